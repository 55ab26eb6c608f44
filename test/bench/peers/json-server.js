// json-server on a JSON file, with its own routes on /plants: no tokens, and no durability. The parameter that limits a
// list is called _limit (GET /plants?_limit=20), and _start, or _page, says where it begins.
import jsonServer from 'json-server';

const server = jsonServer.create();
server.use(jsonServer.defaults({ logger: false }));
server.use(jsonServer.router(process.argv[2]));

const listening = server.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${listening.address().port}`);
});
