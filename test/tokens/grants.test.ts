import assert from 'node:assert/strict';
import { rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setImmediate as nextIteration, setTimeout as sleep } from 'node:timers/promises';
import { createTokenFileAuthenticator } from '../../src/tokens.ts';
import { readTokenFile, tokenFileText, visitTokenFile } from '../../src/tokens/token-file.ts';
import type { TokenRecord } from '../../src/tokens/token-file.ts';
import { issueToken, revokeToken } from '../../src/tokens/issue.ts';
import { tokenDigest } from '../../src/tokens/token.ts';
import { eventually } from '../support/eventually.ts';
import { startService } from '../support/service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

function copiesOf(record: TokenRecord, count: number): TokenRecord[] {
  return Array.from({ length: count }, (_, n) => ({ ...record, id: `tk_${n}`, sha256: tokenDigest(String(n)) }));
}

describe('grants of a tokens file', { concurrency: 4 }, () => {
  it('become unavailable after a changed file could not be read for 5 seconds, until it can be read', async (t) => {
    const path = join(await temporaryFolder(t), 'tokens.json');
    const { token } = issueToken(path, { user: 'ada' });
    const problems: string[] = [];
    const authenticate = createTokenFileAuthenticator(path, { onWarning: (message) => problems.push(message) });
    const service = await startService(t, { authenticate });
    const becomes = (status: number): Promise<void> =>
      eventually(async () => {
        const { status: found, json } = await service.call('GET', '/plants', { token });
        assert.equal(found, status);
        if (status === 503) assert.deepEqual(json, { error: 50300, message: 'The storage failed. Try again shortly.' });
      }, 10_000);
    await becomes(200);
    await rename(path, `${path}.away`);
    // Unlike EACCES, the error ELOOP also occurs for root.
    await symlink(path, path);
    await eventually(() =>
      service.call('GET', '/plants', { token }).then(() => {
        assert.equal(problems.length, 1);
      }),
    );
    assert.equal((await service.call('GET', '/plants', { token })).status, 200);

    await becomes(503);
    assert.equal((await service.call('GET', '/openapi.json', { token: null })).status, 200);
    await unlink(path);
    await rename(`${path}.away`, path);
    await becomes(200);
    const cause = `${path} cannot be used: ELOOP: too many symbolic links encountered, stat '${path}'.`;
    assert.deepEqual(problems, [
      `${cause} The last valid tokens stay in force for 5 seconds.`,
      `${cause} Requests with a token are rejected with 503 until the file can be read.`,
      `${path} can be read again.`,
    ]);
  });

  it('accept no token after a file that could not be read was removed, each time that this happens', async (t) => {
    const path = join(await temporaryFolder(t), 'tokens.json');
    const { token } = issueToken(path, { user: 'ada' });
    const problems: string[] = [];
    const authenticate = createTokenFileAuthenticator(path, { onWarning: (message) => problems.push(message) });
    for (let n = 1; n <= 2; n++) {
      await rm(path, { force: true });
      await symlink(path, path);
      await eventually(() => assert.rejects(async () => authenticate(token), { code: 'storage_unavailable' }), 10_000);
      await unlink(path);
      await eventually(async () => {
        assert.equal(await authenticate(token), null);
      });
    }
    const cause = `${path} cannot be used: ELOOP: too many symbolic links encountered, stat '${path}'.`;
    const refusal = `${cause} Requests with a token are rejected with 503 until the file can be read.`;
    const removal = `${path} was removed: no token is accepted.`;
    assert.deepEqual(problems, [
      `${cause} The last valid tokens stay in force for 5 seconds.`,
      refusal,
      removal,
      `${cause} No token is accepted.`,
      refusal,
      removal,
    ]);
  });

  it('change all at once, even if the file is large', async (t) => {
    const path = join(await temporaryFolder(t), 'tokens.json');
    const { token: old } = issueToken(path, { user: 'ada' });
    const { record, token: first } = issueToken(path, { user: 'bob' });
    const { record: lastRecord, token: last } = issueToken(path, { user: 'eve' });
    const authenticate = createTokenFileAuthenticator(path);
    const others = copiesOf(record, 40_000);
    const [firstNew, lastNew] = [
      { ...record, user: 'joe' },
      { ...lastRecord, user: 'joe' },
    ];
    await writeFile(path, tokenFileText([firstNew, ...others, lastNew]));
    await sleep(600);
    for (;;) {
      const users = await Promise.all([old, first, last].map(async (token) => (await authenticate(token))?.user));
      if (users[0] === undefined) {
        assert.deepEqual(users, [undefined, 'joe', 'joe']);
        return;
      }
      assert.deepEqual(users, ['ada', 'bob', 'eve']);
      await nextIteration();
    }
  });

  it('are read in slices, so that the event loop continues', async (t) => {
    const path = join(await temporaryFolder(t), 'tokens.json');
    const { record } = issueToken(path, { user: 'ada' });
    const count = 30_000;
    await writeFile(path, tokenFileText(copiesOf(record, count)));
    let [visits, visitsInIteration, most] = [0, 0, 0];
    let isRead = false;
    const tick = (): void => {
      visitsInIteration = 0;
      if (!isRead) setImmediate(tick);
    };
    tick();
    await visitTokenFile(path, () => {
      visits++;
      most = Math.max(most, ++visitsInIteration);
    });
    isRead = true;
    assert.equal(visits, count);
    assert.ok(most < count / 4, `${most} records without a break`);
  });

  it('are up to date at the first request after an idle period', async (t) => {
    const path = join(await temporaryFolder(t), 'tokens.json');
    const { token, record } = issueToken(path, { user: 'ada' });
    const authenticate = createTokenFileAuthenticator(path);
    assert.equal((await authenticate(token))?.user, 'ada');
    revokeToken(path, record.id);
    await sleep(1100);
    assert.deepEqual(readTokenFile(path), []);
    assert.equal(await authenticate(token), null);
  });
});
