import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import { describe, it } from 'node:test';
import { assertConforms, runConformance } from '../support/conformance.ts';
import { listenUrl } from '../support/listen.ts';
import { startService } from '../support/service.ts';

const tokens = { a: 'token-of-ada', b: 'token-of-adam', readOnly: 'read-only-token' };

describe('npm run conformance', { concurrency: true }, () => {
  it('passes on this server, prints no token, and deletes its plants', async (t) => {
    const authenticate = (token: string) =>
      ({
        [tokens.a]: { user: 'ada' },
        [tokens.b]: { user: 'adam' },
        [tokens.readOnly]: { user: 'ada', scopes: ['plants:read'] },
      })[token] ?? null;
    const { url, store } = await startService(t, { authenticate });
    await assertConforms(url, tokens);
    for (const user of ['ada', 'adam']) assert.deepEqual(await store.listPlants(user), []);
  });

  it('fails if a MUST fails, shows what was sent, expected and received, and prints no token', async (t) => {
    const echo: RequestListener = ({ headers }, response) => response.end(headers.authorization);
    const { code, stdout } = await runConformance(await listenUrl(t, createServer(echo)), tokens);
    assert.equal(code, 1);
    assert.match(
      stdout,
      /expected: the media type application\/json\n +sent: +POST \/plants \{.*\} "\{.*\n +received: 200 \{/,
    );
    assert.doesNotMatch(stdout, /token-of|read-only-token/);
  });

  it('exits with 2 and prints its usage if an argument is wrong', async () => {
    const { code, stdout, stderr } = await runConformance('plants.example', tokens);
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /^Usage: /);
  });
});
