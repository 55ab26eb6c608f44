// The parts that the Fastify servers share: tokens, JSON schemas for requests and responses, and errors.
import fastify from 'fastify';

const tokens = new Map(Object.entries(JSON.parse(process.env.BENCH_TOKENS ?? '{}')));

const id = { type: 'integer' };
const plant = { type: 'object', required: ['name'], properties: { name: { type: 'string' }, tag: { type: 'string' } } };
const failure = { type: 'object', properties: { error: { type: 'integer' }, message: { type: 'string' } } };

export const createSchema = {
  body: { type: 'object', required: ['id', 'name'], properties: { id, ...plant.properties } },
  response: { 200: plant, '4xx': failure },
};
export const listSchema = {
  querystring: { type: 'object', properties: { limit: { type: 'integer', minimum: 0 }, after: id } },
  response: { 200: { type: 'array', items: plant }, '4xx': failure },
};
export const deleteSchema = {
  params: { type: 'object', required: ['id'], properties: { id } },
  response: { 204: { type: 'null' }, '4xx': failure },
};

export const app = fastify({ logger: false });

export function fail(reply, error, message) {
  return reply.code(error).send({ error, message });
}

/** Converts a row to a plant. If the tag is null, the plant has no tag. */
export function toPlant({ name, tag }) {
  return tag === null ? { name } : { name, tag };
}

app.setErrorHandler((error, request, reply) => fail(reply, error.statusCode ?? 500, error.message));

app.decorateRequest('user', '');
app.addHook('onRequest', (request, reply, done) => {
  const { authorization } = request.headers;
  const user = authorization?.startsWith('Bearer ') ? tokens.get(authorization.slice(7)) : undefined;
  if (user === undefined) {
    fail(reply, 401, 'a known bearer token is needed');
    return;
  }
  request.user = user;
  done();
});

export async function listen() {
  console.log(`listening on ${await app.listen({ host: '127.0.0.1', port: 0 })}`);
}
