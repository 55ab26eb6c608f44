import assert from 'node:assert/strict';
import { it } from 'node:test';
import { assertDescribed } from '../support/described.ts';
import { createFetchService } from '../support/service.ts';
import { Client } from './client.ts';
import { deliverTo } from './exchange.ts';
import { brokenServers } from './faults.ts';
import { parts, testServer } from './register.ts';

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

it('each conformance check fails on a server that breaks its rule', async (t) => {
  const checks = new Map(Object.values(parts).flatMap((part) => Object.entries(part)));
  const untested = new Set(checks.keys());
  for (const [fault, breakServer] of Object.entries(brokenServers)) {
    const { url, send } = createFetchService(t);
    const [id = ''] = fault.split(' ');
    for (const [title, check] of checks) {
      if (!title.startsWith(`${id} `)) continue;
      const client = new Client({ url, tokens, deliver: breakServer(deliverTo(url, send)) });
      await assert.rejects(check(client, client.newPlant()), /^Error: expected: /, fault);
      untested.delete(title);
    }
  }
  assert.deepEqual([...untested], [], 'There is a broken server for each check.');
});
