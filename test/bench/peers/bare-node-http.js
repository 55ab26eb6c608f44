// Does the minimum that a node:http server must do for the same requests: parses the body and returns constants.
import { Buffer } from 'node:buffer';
import { createServer } from 'node:http';

const contentType = 'application/json';

const created = '{"name":"Fern","tag":"indoor"}';
const createdHeaders = { 'Content-Type': contentType, 'Content-Length': Buffer.byteLength(created) };

const listOf = (count) => {
  const plants = Array.from({ length: count }, (_, n) => ({ name: `Fern number ${n + 1}`, tag: 'indoor' }));
  const body = JSON.stringify(plants);
  return { body, headers: { 'Content-Type': contentType, 'Content-Length': Buffer.byteLength(body) } };
};
const lists = new Map([
  ['20', listOf(20)],
  ['1000', listOf(1000)],
  ['all', listOf(100_000)],
]);

const server = createServer((req, res) => {
  if (req.method === 'POST' && req.url === '/plants') {
    const chunks = [];
    req.on('data', (chunk) => chunks.push(chunk));
    req.on('end', () => {
      JSON.parse(Buffer.concat(chunks).toString());
      res.writeHead(200, createdHeaders).end(created);
    });
  } else if (req.method === 'GET') {
    const list = lists.get(/limit=(\d+)/.exec(req.url)?.[1] ?? 'all');
    if (list === undefined) res.writeHead(404).end();
    else res.writeHead(200, list.headers).end(list.body);
  } else if (req.method === 'DELETE' && req.url.startsWith('/plants/')) {
    res.writeHead(204).end();
  } else {
    res.writeHead(404).end();
  }
});

server.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}`);
});
