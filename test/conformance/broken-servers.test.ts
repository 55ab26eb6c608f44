import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createFetchService } from '../support/service.ts';
import { Client } from './client.ts';
import { deliverTo } from './exchange.ts';
import { brokenServers } from './faults.ts';
import { parts } from './register.ts';

const tokens = { a: 'ada', b: 'bob', readOnly: 'ada-reads' };

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
