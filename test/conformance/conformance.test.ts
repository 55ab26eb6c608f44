import assert from 'node:assert/strict';
import { assertDescribed } from '../support/described.ts';
import { createFetchService } from '../support/service.ts';
import { deliverTo } from './exchange.ts';
import { testServer } from './register.ts';

const tokens = { a: 'ada', b: 'bob', readOnly: 'ada-reads' };

// The service over node:http is checked in run.test.ts.
testServer('fetch over memory', (t) => {
  const { store, faults, url, send } = createFetchService(t);
  t.after(async () => {
    assert.deepEqual([await store.listPlants('ada'), await store.listPlants('bob'), faults], [[], [], []]);
  });
  const deliver = deliverTo(url, send);
  return {
    url,
    tokens,
    deliver: async (request) => {
      const exchange = await deliver(request);
      assertDescribed(request.method, request.target, exchange);
      return exchange;
    },
  };
});
