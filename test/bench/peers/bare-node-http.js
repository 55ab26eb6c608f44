// Does the minimum that a node:http server must do for the same requests: parses the body and returns constants.
import { createServer } from 'node:http';

const plants = Array.from({ length: 100_000 }, (_, n) => ({ name: `Fern number ${n + 1}`, tag: 'indoor' }));
const lists = new Map([20, 1000, 100_000].map((count) => [String(count), JSON.stringify(plants.slice(0, count))]));

const respond = (res, body) =>
  res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length }).end(body);

const server = createServer((req, res) => {
  if (req.method === 'POST') {
    const chunks = [];
    req.on('data', (chunk) => chunks.push(chunk));
    req.on('end', () => {
      JSON.parse(chunks.join(''));
      respond(res, '{"name":"Fern","tag":"indoor"}');
    });
  } else if (req.method === 'GET') {
    respond(res, lists.get(/limit=(\d+)/.exec(req.url)?.[1] ?? '100000'));
  } else {
    res.writeHead(204).end();
  }
});

server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
