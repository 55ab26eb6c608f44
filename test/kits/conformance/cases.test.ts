import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { SqliteStorage } from '../../../src/sqlite.ts';
import { checkCases } from '../../../src/kits/conformance/cases.ts';
import { CheckClient } from '../../../src/kits/conformance/check-client.ts';
import type { CheckResponse } from '../../../src/kits/conformance/exchange.ts';
import { runCases } from '../../../src/kits/conformance/run-cases.ts';
import { sendByFetch } from '../../../src/kits/conformance/send-by-fetch.ts';
import { startService } from '../../support/service.ts';
import type { Service } from '../../support/service.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { brokenIsolations } from './broken-servers/isolation.ts';
import { brokenLists } from './broken-servers/lists.ts';
import { brokenProtocols } from './broken-servers/protocol.ts';
import { brokenWrites } from './broken-servers/writes.ts';
import { idsOf, runChecks, tokens } from './run-checks.ts';

const brokenServers = Object.entries({ ...brokenWrites, ...brokenLists, ...brokenIsolations, ...brokenProtocols });

/** The broken servers on which plants of the checks remain, because the servers cannot delete all of them. */
const leavingPlants = ['delete-gone does not delete', 'int64-delete-exact rounds ids in paths'];

/** Creates plants that the checks must not change. */
async function plantSome({ store }: Service): Promise<void> {
  for (const user of ['ada', 'bob']) {
    for (const id of [-5n, 1n, 2n, 2n ** 53n, 2n ** 62n]) await store.createPlant(user, { id, name: `of ${user}` });
  }
}

async function contents({ store }: Service): Promise<unknown[]> {
  return [await store.listPlants('ada'), await store.listPlants('bob')];
}

describe('the checks', () => {
  it('have unique ids and names that begin with the level', () => {
    assert.equal(new Set(checkCases.map(({ id }) => id)).size, checkCases.length);
    assert.equal(new Set(checkCases.map(({ name }) => name)).size, checkCases.length);
    for (const { id, level, name } of checkCases) {
      assert.match(id, /^[a-z\d]+(?:-[a-z\d]+)+$/);
      assert.match(name, new RegExp(`^${level} `));
    }
  });

  it('all pass on this server with SQLite, under a base path', async (t) => {
    const storage = new SqliteStorage(join(await temporaryFolder(t), 'plants.db'));
    const service = await startService(t, { storage, basePath: '/garden' });
    // Removes the base path, as a reverse proxy does.
    const direct = sendByFetch(service.url);
    const { results } = await runChecks(direct, `${service.url}/garden`);
    assert.deepEqual(
      results.filter(({ outcome }) => outcome !== 'passed'),
      [],
    );
  });

  it('do not change existing plants of the users', async (t) => {
    const service = await startService(t);
    await plantSome(service);
    const before = await contents(service);
    const { results } = await runChecks(sendByFetch(service.url), service.url);
    assert.deepEqual(idsOf(results, 'failed'), []);
    assert.deepEqual(idsOf(results, 'not run'), ['link-absent-last-page']);
    assert.deepEqual(await contents(service), before);
  });
});

describe('a broken server fails', { concurrency: 4 }, () => {
  for (const [name, breakServer] of brokenServers) {
    it(name, async (t) => {
      const [fails = ''] = name.split(' ');
      const service = await startService(t);
      if (fails !== 'link-absent-last-page') await plantSome(service);
      const before = await contents(service);
      const send = breakServer(sendByFetch(service.url), service);
      // The check of the statuses in the OpenAPI document uses the responses to other checks.
      const ids = fails === 'openapi-statuses' ? ['auth-missing-get', fails] : [fails];
      const { client, results } = await runChecks(send, service.url, ids);
      assert.ok(idsOf(results, 'failed').includes(fails), JSON.stringify(results));
      if (leavingPlants.includes(name)) assert.notDeepEqual(await client.findLeftovers(), []);
      else assert.deepEqual(await contents(service), before);
    });
  }
});

describe('each check', () => {
  const json = { 'content-type': 'application/json' };
  const uselessResponses: CheckResponse[] = [
    { status: 200, headers: new Headers(json), text: '[]' },
    { status: 400, headers: new Headers({ ...json, 'content-length': '7' }), text: '{}' },
    { status: 204, headers: new Headers({ 'content-length': '0' }), text: '' },
    { status: 500, headers: new Headers({ 'set-cookie': 'a=b' }), text: 'The token is ada.' },
  ];

  it('fails on a broken server, or on a server that sends the same useless response to every request', async () => {
    const failed = new Set<string>();
    for (const response of uselessResponses) {
      const baseUrl = 'http://plants.example';
      const client = new CheckClient({ send: async () => response, baseUrl, tokens });
      for await (const { check, outcome } of runCases(checkCases, client)) {
        if (outcome === 'failed') failed.add(check.id);
      }
    }
    const others = brokenServers.map(([name]) => name.split(' ')[0]);
    assert.deepEqual(
      checkCases.map(({ id }) => id).filter((id) => !failed.has(id) && !others.includes(id)),
      [],
    );
  });
});
