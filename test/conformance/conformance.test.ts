import assert from 'node:assert/strict';
import { after, it } from 'node:test';
import { assertDescribed } from '../support/described.ts';
import { createFetchService } from '../support/service.ts';
import { deliverTo } from './client.ts';
import { testServer } from './register.ts';

const { store, faults, url, send } = createFetchService({ after });
const deliver = deliverTo(url, send);

// The service over node:http is checked in run.test.ts.
testServer('fetch over memory', {
  url,
  tokens: { a: 'ada', b: 'bob', readOnly: 'ada-reads' },
  deliver: async (request) => {
    const exchange = await deliver(request);
    assertDescribed(request.method, request.target, exchange);
    return exchange;
  },
});

it('the conformance checks delete their plants, and cause no internal error', async () => {
  assert.deepEqual([await store.listPlants('ada'), await store.listPlants('bob'), faults], [[], [], []]);
});
