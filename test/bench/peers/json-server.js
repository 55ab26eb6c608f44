// json-server on a JSON file, with its own routes for /plants. It has no tokens, and does not sync the file. The query
// parameter _limit limits a list (GET /plants?_limit=20); _start or _page selects where it starts.
import jsonServer from 'json-server';

const server = jsonServer.create();
server.use(jsonServer.defaults({ logger: false }));
server.use(jsonServer.router(process.argv[2]));

const listening = server.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${listening.address().port}`);
});
