import assert from 'node:assert/strict';
import { rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { tokenFileText, visitTokenFile } from '../../src/tokens/token-file.ts';
import type { TokenRecord } from '../../src/tokens/token-file.ts';
import { issueToken } from '../../src/tokens/issue.ts';
import { tokenDigest } from '../../src/tokens/token.ts';
import { runSuccessfully } from '../support/run-program.ts';
import { sourceUrl, tsx } from '../support/sources.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { authenticateAda } from './authenticate-ada.ts';

function copiesOf(record: TokenRecord, count: number): TokenRecord[] {
  return Array.from({ length: count }, (_, n) => ({ ...record, id: `tk_${n}`, sha256: tokenDigest(String(n)) }));
}

const unavailable = { code: 'storage_unavailable' };
// Unlike EACCES, the error ELOOP also occurs for root.
const causeOf = (path: string): string =>
  `${path} cannot be used: ELOOP: too many symbolic links encountered, stat '${path}'.`;
const refusalOf = (path: string): string =>
  `${causeOf(path)} Requests with a token are rejected with 503 until the file can be read.`;

describe('grants of a tokens file', () => {
  it('become unavailable when a changed file has been unreadable for 5 seconds, until it can be read again', async (t) => {
    const { path, token, authenticate, userOf, problems, advance } = await authenticateAda(t);
    await rename(path, `${path}.away`);
    await symlink(path, path);
    for (const byMs of [501, 2500, 2499]) {
      advance(byMs);
      assert.equal(await userOf(token), 'ada');
    }
    assert.deepEqual(problems, [`${causeOf(path)} The last valid tokens stay in force for 5 seconds.`]);
    for (const text of [token, 'unknown']) {
      advance(501);
      await assert.rejects(async () => authenticate(text), unavailable);
    }
    await unlink(path);
    await rename(`${path}.away`, path);
    advance(1001);
    assert.equal(await userOf(token), 'ada');
    assert.deepEqual(problems.slice(1), [refusalOf(path), `${path} can be read again.`]);
  });

  it('accept no token after an unreadable file is removed, however often this happens', async (t) => {
    const { path, token, authenticate, problems, advance } = await authenticateAda(t);
    for (let n = 1; n <= 2; n++) {
      await rm(path, { force: true });
      await symlink(path, path);
      advance(501);
      await authenticate(token);
      advance(5000);
      await assert.rejects(async () => authenticate(token), unavailable);
      await unlink(path);
      advance(501);
      assert.equal(await authenticate(token), null);
    }
    const removal = `${path} was removed: no token is accepted.`;
    assert.deepEqual(problems, [
      `${causeOf(path)} The last valid tokens stay in force for 5 seconds.`,
      ...[refusalOf(path), removal],
      `${causeOf(path)} No token is accepted.`,
      ...[refusalOf(path), removal],
    ]);
  });

  it('are read again after reading them failed because no file descriptor was free', async (t) => {
    const script = `
      import { closeSync, openSync } from 'node:fs';
      import { mock } from 'node:test';
      import { createTokenFileAuthenticator } from '${sourceUrl('tokens/authenticator.ts')}';
      import { issueToken, revokeToken } from '${sourceUrl('tokens/issue.ts')}';
      import { mockClock } from '${new URL('authenticate-ada.ts', import.meta.url).href}';
      const advance = mockClock({ mock });
      const { token, record } = issueToken('tokens.json', { user: 'ada' });
      const problems = [];
      const authenticate = createTokenFileAuthenticator('tokens.json', { onWarning: (text) => problems.push(text) });
      revokeToken('tokens.json', record.id);
      const taken = [];
      for (let n = 0; n < 10; n++) {
        // Some descriptors become free only in the next event loop iteration.
        try { for (;;) taken.push(openSync('/dev/null')); } catch {}
        await new Promise(setImmediate);
      }
      advance(1001);
      const before = await authenticate(token);
      taken.forEach((descriptor) => closeSync(descriptor));
      advance(1001);
      console.log(JSON.stringify([before.user, await authenticate(token), problems]));`;
    const node = `ulimit -n 64; exec '${process.execPath}' --import '${tsx}' --input-type=module --eval "$0"`;
    const stdout = await runSuccessfully('sh', ['-c', node, script], { cwd: await temporaryFolder(t) });
    const problem =
      "tokens.json cannot be used: EMFILE: too many open files, open 'tokens.json'. " +
      'The last valid tokens stay in force for 5 seconds.';
    assert.deepEqual(JSON.parse(stdout), ['ada', null, [problem]]);
  });

  it('change atomically, even if the file is large', async (t) => {
    const { path, token: old, userOf, advance } = await authenticateAda(t);
    const { record, token: first } = issueToken(path, { user: 'bob' });
    const { record: lastRecord, token: last } = issueToken(path, { user: 'eve' });
    const usersOf = (): Promise<unknown[]> => Promise.all([old, first, last].map(userOf));
    advance(1001);
    assert.deepEqual(await usersOf(), ['ada', 'bob', 'eve']);
    const changed = [record, ...copiesOf(record, 20_000), lastRecord].map((each) => ({ ...each, user: 'joe' }));
    await writeFile(path, tokenFileText(changed));
    // This time is so short that a lookup does not wait until the file has been read.
    advance(501);
    let [users, before] = [await usersOf(), 0];
    for (; users[0] === 'ada'; before++) {
      assert.deepEqual(users, ['ada', 'bob', 'eve']);
      await nextIteration();
      users = await usersOf();
    }
    assert.deepEqual(users, [undefined, 'joe', 'joe']);
    assert.ok(before > 1, `${before} lookups during the change`);
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
});
