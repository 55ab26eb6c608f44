// Does the minimum that a node:http server must do for the same requests: parses the body and returns constants.
import { Buffer } from 'node:buffer';
import { createServer } from 'node:http';

const answer = (value) => {
  const body = JSON.stringify(value);
  return { body, headers: { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) } };
};
const created = answer({ name: 'Fern', tag: 'indoor' });
const plants = (count) => Array.from({ length: count }, (_, n) => ({ name: `Fern number ${n + 1}`, tag: 'indoor' }));
const all = 100_000;
const lists = new Map([20, 1000, all].map((count) => [count, answer(plants(count))]));

const server = createServer((req, res) => {
  if (req.method === 'POST') {
    const chunks = [];
    req.on('data', (chunk) => chunks.push(chunk));
    req.on('end', () => {
      JSON.parse(Buffer.concat(chunks).toString());
      res.writeHead(200, created.headers).end(created.body);
    });
  } else if (req.method === 'GET') {
    const { body, headers } = lists.get(Number(/limit=(\d+)/.exec(req.url)?.[1] ?? all));
    res.writeHead(200, headers).end(body);
  } else {
    res.writeHead(204).end();
  }
});

server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
