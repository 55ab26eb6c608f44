import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setImmediate as nextIteration } from 'node:timers/promises';
import { tokenFileText, visitTokenFile } from '../../src/tokens/token-file.ts';
import type { TokenRecord } from '../../src/tokens/token-file.ts';
import { issueToken, revokeToken } from '../../src/tokens/issue.ts';
import { tokenDigest } from '../../src/tokens/token.ts';
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

  it('are read again after the disk failed to return the content of a changed file', async (t) => {
    // Linux reports this file as a regular file, but reading its first byte fails with EIO.
    const unreadable = '/proc/self/mem';
    if (!existsSync(unreadable)) {
      t.skip(`${unreadable} does not exist`);
      return;
    }
    const { path, token, id, userOf, problems, advance } = await authenticateAda(t);
    await rename(path, `${path}.away`);
    await symlink(unreadable, path);
    advance(1001);
    assert.equal(await userOf(token), 'ada');
    const [problem = ''] = problems;
    // Some versions of Node.js add the path to the cause.
    assert.match(
      problem,
      /cannot be used: EIO: i\/o error, read.*\. The last valid tokens stay in force for 5 seconds\.$/,
    );
    await rename(`${path}.away`, path);
    revokeToken(path, id);
    advance(1001);
    assert.equal(await userOf(token), undefined);
    assert.equal(problems.length, 1);
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
