import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { describe, it } from 'node:test';
import { listenUrl } from '../support/listen.ts';
import { createFetchService } from '../support/service.ts';
import { CleanUp } from '../support/temporary-folder.ts';
import { Client } from './client.ts';
import { deliverTo } from './exchange.ts';
import { brokenIsolations } from './faults/isolation.ts';
import { brokenLists } from './faults/lists.ts';
import { brokenProtocols } from './faults/protocol.ts';
import { brokenWrites } from './faults/writes.ts';
import { parts } from './register.ts';

const brokenServers = { ...brokenWrites, ...brokenLists, ...brokenIsolations, ...brokenProtocols };
const checks = new Map(
  Object.values(parts).flatMap((part) => Object.entries(part).map(([title, check]) => [title.split(' ')[0], check])),
);
const tokens = { a: 'ada', b: 'bob', readOnly: 'ada-reads' };

describe('conformance checks', () => {
  it('fail on a server that breaks their rule', async (t) => {
    const untested = new Set(checks.keys());
    for (const [name, breakServer] of Object.entries(brokenServers)) {
      await using cleanUp = new CleanUp();
      const service = createFetchService(cleanUp);
      const deliver = breakServer(deliverTo(service.url, service.send), service);
      const client = new Client({ url: service.url, tokens, deliver });
      const [id] = name.split(' ');
      const failed = checks.get(id)?.(client, client.newPlant());
      await assert.rejects(async () => failed, /^Error: expected: /, name);
      untested.delete(id);
    }
    assert.deepEqual([...untested], [], 'There is a broken server for each check.');
    t.diagnostic(`${Object.keys(brokenServers).length} broken servers, ${checks.size} checks`);
  });

  it('see a body that a server sends with the response to HEAD', async (t) => {
    const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX: a: b\r\n\r\n[]';
    const url = await listenUrl(
      t,
      createServer((socket) => socket.end(answer)),
    );
    const { status, headers, text } = await deliverTo(url)({ method: 'HEAD', target: '/plants', headers: {} });
    assert.deepEqual([status, headers.get('x'), text], [200, 'a: b', '[]']);
  });
});
