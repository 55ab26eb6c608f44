import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { errorTable, MemoryStorage, PlantStore, PlantStoreError } from '../../src/index.ts';
import { openApiDocument } from '../../src/http.ts';
import { commonErrors } from '../../src/http/routes.ts';
import type { Call } from '../support/call.ts';
import { authenticateByName, startService } from '../support/service.ts';

interface Document {
  paths: Record<string, Record<string, { responses: Record<string, Response> }>>;
  components: { responses: Record<string, Response> };
}

interface Response {
  $ref?: string;
  content?: { 'application/json': { schema: { allOf?: [object, { properties: { error: { enum: number[] } } }] } } };
}

/** Creates a storage that rejects every request of the user `foreign` with `storage_unsupported`. */
function createStorage(): MemoryStorage {
  const storage = new MemoryStorage();
  const [commit, list] = [storage.commit.bind(storage), storage.list.bind(storage)];
  const check = (user: string | undefined): void => {
    if (user === 'foreign') throw new PlantStoreError('storage_unsupported');
  };
  storage.commit = async (writes) => (check(writes[0]?.user), commit(writes));
  storage.list = async (user, range) => (check(user), list(user, range));
  return storage;
}

const { paths, components } = openApiDocument() as unknown as Document;

/** A request for the service: the method, the target, and the rest. */
type Request = readonly [method: string, target: string, call?: Call];

const fern = '{"id":1,"name":"Fern"}';

const ofPlants = (method: string, target: string, rest: Call, tokens: readonly (string | null)[]): Request[] =>
  tokens.map((token) => [method, target, { ...rest, token }]);

const listErrors = (method: string): Request[] => [
  ...['', '?limit=1', '?limit=-1', '?after=x'].map((query): Request => [method, `/plants${query}`]),
  ...ofPlants(method, '/plants', {}, [null, 'nobody', 'ada-writes', 'fault', 'foreign']),
];

/** Requests for a store that holds the plants 1 and 2 of ada. */
const requests: Request[] = [
  ...listErrors('GET'),
  ...listErrors('HEAD'),
  ['POST', '/plants', { body: '{"id":9223372036854775807,"name":"Moss","tag":"bryophyte"}' }],
  ['POST', '/plants'],
  ...[fern, '{"id":"1","name":"Fern"}', 'Fern', fern.padEnd(70_000)].map((body): Request => [
    'POST',
    '/plants',
    { body },
  ]),
  ['POST', '/plants', { body: fern, headers: { 'content-type': 'text/plain' } }],
  ...ofPlants('POST', '/plants', { body: fern }, [null, 'nobody', 'ada-reads', 'fault', 'foreign']),
  ...['9223372036854775808', '404', ''].map((id): Request => ['DELETE', `/plants/${id}`]),
  ...ofPlants('DELETE', '/plants/1', {}, ['bob', null, 'nobody', 'ada-reads', 'fault', 'foreign']),
  ['DELETE', '/plants/1', { body: 'x'.repeat(70_000) }],
  ['DELETE', '/plants/1'],
  ['GET', '/openapi.json', { token: null }],
  ['HEAD', '/openapi.json'],
  ...['/plants', '/plants/1', '/openapi.json'].map((target): Request => ['OPTIONS', target, { token: null }]),
  ['PATCH', '/plants', { body: fern }],
  ['GET', '/plants/1'],
  ['POST', '/openapi.json', { body: '{}' }],
  ['GET', '/'],
];

/** Requests for a store that is closed. */
const afterClose: Request[] = [
  ['GET', '/plants'],
  ['HEAD', '/plants'],
  ['POST', '/plants', { body: fern }],
  ['DELETE', '/plants/1'],
];

/**
 * Returns the responses in the document as `METHOD path`, status and the integer of `error`, if any, without
 * the errors for requests that node:http rejects.
 */
function describedAnswers(): string[] {
  const early = new Set<number>(commonErrors.map((code) => errorTable[code].error));
  const earlyStatuses = new Set(commonErrors.map((code) => String(errorTable[code].status)));
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, { responses }]) =>
      Object.entries(responses).flatMap(([status, response]) => {
        const shared = response.$ref?.split('/').at(-1);
        // The response to HEAD has no content, even if a shared response describes one.
        const content =
          method === 'head'
            ? undefined
            : shared === undefined
              ? response.content
              : components.responses[shared]?.content;
        const answer = `${method.toUpperCase()} ${path} ${status}`;
        const integers = content?.['application/json'].schema.allOf?.[1]?.properties.error.enum;
        if (integers === undefined) return earlyStatuses.has(status) ? [] : [answer];
        return integers.filter((error) => !early.has(error)).map((error) => `${answer} ${error}`);
      }),
    ),
  );
}

describe('the OpenAPI document', () => {
  it('describes exactly the responses of the service', async (t) => {
    const store = new PlantStore({ storage: createStorage() });
    const service = await startService(t, {
      store,
      authenticate: (token) => {
        if (token === 'fault') throw new Error('the user directory does not respond');
        return token === 'foreign' ? { user: 'foreign' } : authenticateByName(token);
      },
    });
    await store.createPlant('ada', { id: 1, name: 'Fern' });
    await store.createPlant('ada', { id: 2, name: 'Ivy', tag: 'climber' });

    const given = new Set<string>();
    const call = async ([method, target, options]: Request): Promise<void> => {
      // service.call asserts that the document describes the response.
      const { status, json } = await service.call(method, target, options);
      const path = target.replace(/\?.*/, '').replace(/(?<=\/plants\/).+/, '{id}');
      const integer = status < 400 || method === 'HEAD' ? '' : ` ${(json as { error: number }).error}`;
      given.add(`${method} ${path} ${status}${integer}`);
    };
    for (const request of requests) await call(request);
    await store.close();
    for (const request of afterClose) await call(request);
    assert.deepEqual(
      describedAnswers().filter((answer) => !given.has(answer)),
      [],
    );
  });
});
