import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Authenticate, Caller } from '../../src/http.ts';
import { SqliteStorage } from '../../src/sqlite.ts';
import { assertConforms, runConformance } from '../support/conformance.ts';
import { listenUrl } from '../support/listen.ts';
import { startService } from '../support/service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const tokens = { a: 'token-of-ada', b: 'token-of-adam', readOnly: 'read-only-token' };

describe('npm run conformance', { concurrency: true }, () => {
  it('passes on this server over SQLite, and deletes its plants', async (t) => {
    const callers = new Map<string, Caller>([
      [tokens.a, { user: 'ada' }],
      [tokens.b, { user: 'adam' }],
      [tokens.readOnly, { user: 'ada', scopes: ['plants:read'] }],
    ]);
    const storage = new SqliteStorage(join(await temporaryFolder(t), 'plants.db'));
    const authenticate: Authenticate = (token) => callers.get(token) ?? null;
    const { url, store, faults } = await startService(t, { storage, authenticate });
    await assertConforms(url, tokens);
    assert.deepEqual([await store.listPlants('ada'), await store.listPlants('adam'), faults], [[], [], []]);
  });

  it('fails if a MUST fails, and shows the request and the response without tokens', async (t) => {
    const echo: RequestListener = ({ headers }, response) => response.writeHead(500).end(headers.authorization);
    const { code, stdout } = await runConformance(await listenUrl(t, createServer(echo)), tokens);
    assert.equal(code, 1);
    assert.match(stdout, /expected: status 200\n +sent: +POST \/plants \{.*\} "\{.*\n +received: 500 \{/);
    assert.doesNotMatch(stdout, /token-of|read-only-token/);
  });

  it('exits with 2 if an argument is wrong or the server is down', async () => {
    const { code, stdout, stderr } = await runConformance('plants.example', tokens);
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /^Usage: /);
    const down = await runConformance('http://127.0.0.1:1', tokens);
    assert.equal(down.code, 2);
    assert.match(down.stderr, /^http:\/\/127\.0\.0\.1:1: no complete response to GET \/plants \(.*\)\n$/);
  });
});
