import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MemoryStorage, PlantStore, PlantStoreError } from '../../src/index.ts';
import type { Call } from '../support/call.ts';
import { document, resolveResponse } from '../support/described.ts';
import { authenticateByName, startService } from '../support/service.ts';

/**
 * A request to the service: a line with the method, the target and the token (`ada` by default, or `none`), and then
 * the other options.
 */
type Request = readonly [line: string, call?: Call];

const fern = { body: '{"id":1,"name":"Fern"}' };

/** Returns a request for each string in `ends`. The request line is `start` followed by this string. */
const each = (start: string, ends: readonly string[], call: Call = {}): Request[] =>
  ends.map((end) => [start + end, call]);

const listEnds = ['', '?limit=-1', '?after=x', ' none', ' nobody', ' ada-writes', ' fault'];
const writeEnds = ['', ' none', ' nobody', ' ada-reads', ' fault'];

/** Requests to a store that contains ada's plant 1. */
const requests: Request[] = [
  ...each('GET /plants', listEnds),
  ['POST /plants', { body: '{"id":2,"name":"Ivy","tag":"climber"}' }],
  ...['', '{}', ' '.repeat(70_000)].map((body): Request => ['POST /plants', { body }]),
  ['POST /plants', { ...fern, headers: { 'content-type': 'text/plain' } }],
  ...each('POST /plants', writeEnds, fern),
  ...each('DELETE /plants/1', writeEnds),
  ...each('DELETE /plants/', ['x', '404']),
  ...each('GET /openapi.json', ['']),
];

/** Requests to a storage that is not a plant store, and to a closed store. */
const later: Request[] = [['GET /plants'], ['POST /plants', fern], ['DELETE /plants/1']];

/**
 * Returns each response in the document as `METHOD path status`, followed by the integer of `error`, if any. Omits the
 * errors for requests that node:http rejects.
 */
function describedAnswers(): string[] {
  const early = [40009, 40800, 43100];
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, { responses }]) =>
      Object.entries(responses).flatMap(([status, response]) => {
        const { content } = resolveResponse(response);
        const answer = `${method.toUpperCase()} ${path} ${status}`;
        const integers = content?.['application/json']?.schema.allOf?.[1]?.properties.error.enum;
        if (integers === undefined) return [answer];
        return integers.filter((error) => !early.includes(error)).map((error) => `${answer} ${error}`);
      }),
    ),
  );
}

describe('the OpenAPI document', () => {
  it('describes exactly the responses that the service sends', async (t) => {
    const storage = new MemoryStorage();
    const store = new PlantStore({ storage, maxCacheBytes: 0 });
    const service = await startService(t, {
      store,
      authenticate: (token) => {
        if (token === 'fault') throw new Error('the user directory does not respond');
        return authenticateByName(token);
      },
    });
    await store.createPlant('ada', { id: 1, name: 'Fern' });

    const given = new Set<string>();
    const call = async ([line, options]: Request): Promise<void> => {
      const [method = '', target = '', token = 'ada'] = line.split(' ');
      // service.call asserts that the document describes the response.
      const sent = { ...options, token: token === 'none' ? null : token };
      const { status, json } = await service.call(method, target, sent);
      const path = target.replace(/\?.*/, '').replace(/(?<=\/plants\/).+/, '{id}');
      const integer = status < 400 ? '' : ` ${(json as { error: number }).error}`;
      given.add(`${method} ${path} ${status}${integer}`);
    };
    for (const request of requests) await call(request);
    for (const code of ['storage_unsupported', 'storage_unavailable', 'saturated'] as const) {
      storage.commit = () => Promise.reject(new PlantStoreError(code));
      storage.list = () => Promise.reject(new PlantStoreError(code));
      await Promise.all(later.map(call));
    }
    await store.close();
    service.faults.length = 0;
    for (const request of later) await call(request);
    assert.deepEqual(service.faults, [], 'a closed store is not reported');
    const others = describedAnswers().filter((answer) => !given.has(answer));
    assert.deepEqual(others, []);
  });
});
