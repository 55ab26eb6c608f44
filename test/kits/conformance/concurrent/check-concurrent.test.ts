import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, it } from 'node:test';
import { SqliteStorage } from '../../../../src/sqlite.ts';
import { CheckClient } from '../../../../src/kits/conformance/check-client.ts';
import { checkConcurrent } from '../../../../src/kits/conformance/concurrent/check-concurrent.ts';
import { NoResponseError } from '../../../../src/kits/conformance/exchange.ts';
import type { CheckResponse, Send } from '../../../../src/kits/conformance/exchange.ts';
import type { CheckResult } from '../../../../src/kits/conformance/run-cases.ts';
import { sendByFetch } from '../../../../src/kits/conformance/send-by-fetch.ts';
import { startService } from '../../../support/service.ts';
import type { Service } from '../../../support/service.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { tokens } from '../run-checks.ts';

const extent = { clients: 8, operations: 400 };

async function check({ url: baseUrl }: Service, breakSend = (send: Send): Send => send): Promise<CheckResult> {
  const client = new CheckClient({ send: breakSend(sendByFetch(baseUrl)), baseUrl, tokens });
  return checkConcurrent(client, extent);
}

const isList = ({ method, target }: { method: string; target: string }): boolean =>
  method === 'GET' && target.startsWith('/plants');

describe('checkConcurrent', () => {
  it('passes on this server with SQLite and removes its plants', async (t) => {
    const storage = new SqliteStorage(join(await temporaryFolder(t), 'plants.db'));
    const service = await startService(t, { storage });
    await service.store.createPlant('ada', { id: 1, name: 'Fern' });
    assert.equal((await check(service)).outcome, 'passed');
    assert.deepEqual(await service.store.listPlants('ada'), [{ id: 1n, name: 'Fern' }]);
  });

  it('passes if some responses are lost and others are a 503', async (t) => {
    const service = await startService(t);
    const result = await check(service, (send) => async (request) => {
      const response = await send(request);
      // The first request counts the plants. It must succeed.
      const random = request.target.includes('limit=501') ? 1 : Math.random();
      if (random < 0.05) throw new NoResponseError('The connection was closed.');
      return random < 0.1 ? { ...response, status: 503 } : response;
    });
    assert.equal(result.outcome, 'passed');
  });

  it('fails if the server caches lists for too long', async (t) => {
    const service = await startService(t);
    await service.store.createPlant('ada', { id: 1, name: 'Fern' });
    const result = await check(service, (send) => {
      const cache = new Map<string, CheckResponse>();
      return async (request) => {
        if (!isList(request)) return send(request);
        const cached = cache.get(request.target);
        if (cached !== undefined && Math.random() < 0.5) return cached;
        const response = await send(request);
        cache.set(request.target, response);
        return response;
      };
    });
    assert.equal(result.outcome, 'failed');
    assert.match(result.details?.at(-1) ?? '', /^No order of these requests explains the response/);
    assert.ok(result.details?.some((line) => line.startsWith('→')));
    assert.deepEqual(await service.store.listPlants('ada'), [{ id: 1n, name: 'Fern' }]);
  });

  it('fails if the server acknowledges a write before the write takes effect', async (t) => {
    const service = await startService(t);
    const late: Promise<unknown>[] = [];
    const result = await check(service, (send) => async (request) => {
      const body = typeof request.body === 'string' ? (JSON.parse(request.body) as { name: string }) : undefined;
      if (body === undefined || Math.random() < 0.8) return send(request);
      late.push(sleep(5).then(() => send(request)));
      const headers = new Headers({ 'content-type': 'application/json' });
      return { status: 200, headers, text: JSON.stringify({ name: body.name }) };
    });
    await Promise.all(late);
    assert.equal(result.outcome, 'failed');
  });

  it('fails if the server lists plants in the wrong order', async (t) => {
    const service = await startService(t);
    const result = await check(service, (send) => async (request) => {
      const response = await send(request);
      if (!isList(request)) return response;
      return { ...response, text: JSON.stringify((JSON.parse(response.text) as unknown[]).toReversed()) };
    });
    assert.equal(result.outcome, 'failed');
    assert.equal(result.expected, 'each plant once, in ascending order of id');
  });

  it('removes its plants even if a response fails while other clients are sending requests', async (t) => {
    const service = await startService(t);
    let isBroken = true;
    const result = await check(service, (send) => async (request) => {
      const response = await send(request);
      if (!isBroken || request.method !== 'DELETE') return response;
      isBroken = false;
      return { ...response, status: 418 };
    });
    assert.equal(result.outcome, 'failed');
    await sleep(100);
    assert.deepEqual(await service.store.listPlants('ada'), []);
  });

  it('fails if the server does not respond to the first request', async (t) => {
    const service = await startService(t);
    const result = await check(service, () => () => Promise.reject(new NoResponseError('The connection was refused.')));
    assert.equal(result.outcome, 'failed');
    assert.equal(result.received, 'The connection was refused.');
  });
});
