import assert from 'node:assert/strict';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { readTokenFile } from '../../../src/tokens/token-file.ts';
import { assertFails, callCommand } from '../../support/call-command.ts';
import type { Finished } from '../../support/run-program.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import type { HasAfter } from '../../support/temporary-folder.ts';

/** Creates a folder. `token` runs `plant-store token` in this folder, and `path` is the default tokens file. */
async function openDesk(t: HasAfter) {
  const cwd = await temporaryFolder(t);
  const token = (...args: string[]): Promise<Finished> => callCommand(['token', ...args], { cwd });
  return { cwd, path: join(cwd, 'tokens.json'), token };
}

/** The arguments of `token create` besides the user, the scopes, and the number of days until the token expires. */
const creations: readonly [args: string[], scopes?: string[] | undefined, days?: number][] = [
  [[]],
  [['--scope=plants:read'], ['plants:read']],
  [
    ['--scope', 'plants:write,plants:read'],
    ['plants:write', 'plants:read'],
  ],
  [['--expires-in', '3600s'], undefined, 1 / 24],
  [['--expires-in', '90m'], undefined, 1 / 16],
  [['--expires-in', '36h'], undefined, 1.5],
  [['--expires-in', '9999999d'], undefined, 9_999_999],
  [['--expires-in', '2w'], undefined, 14],
];

it('plant-store token create › prints the token, and its id, user and file on standard error', async (t) => {
  const { path, token } = await openDesk(t);
  for (const [args, scopes, days = NaN] of creations) {
    const user = 'Ada Lovelace 🌱';
    const { code, stdout, stderr } = await token('create', ...args, user);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^pst_[0-9A-Za-z]{36}\n$/);
    const { id, createdAt, expiresAt = '', ...record } = readTokenFile(path).at(-1) ?? assert.fail();
    for (const part of [id, user, path]) assert.ok(stderr.includes(part), stderr);
    assert.deepEqual([record.user, record.scopes], [user, scopes]);
    const lifetimeDays = (Date.parse(expiresAt) - Date.parse(createdAt)) / 86_400_000;
    assert.equal(lifetimeDays.toFixed(2), days.toFixed(2));
  }
});

it('plant-store token list › prints no secrets, marks expired tokens, and escapes control characters', async (t) => {
  const { path, token } = await openDesk(t);
  const created = await token('create', 'ada');
  const [ada] = readTokenFile(path);
  const record = { id: 'tk_\u202e1', user: 'a\ntk_forged \u001b[31mred', createdAt: '2026-01-01T00:00:00.000Z' };
  const sha256 = 'ab'.repeat(32);
  const records = [ada, { ...record, sha256, scopes: ['plants:read'], expiresAt: '2026-01-02T00:00:00.000Z' }];
  await writeFile(path, JSON.stringify({ version: 1, tokens: records }));
  const { stdout } = await token('list');
  const [, first = '', second = '', ...others] = stdout.split('\n');
  assert.match(first, /^tk_\w{10} +ada +plants:read,plants:write .* never$/);
  assert.match(second, /^tk_\\u202e1 +a\\u000atk_forged \\u001b\[31mred +plants:read .* \(expired\)$/);
  assert.deepEqual(others, ['']);
  for (const secret of [created.stdout.trimEnd(), sha256]) assert.ok(!stdout.includes(secret));
});

it('plant-store token revoke › removes the token with the given value, and never prints the value', async (t) => {
  const { path, token } = await openDesk(t);
  const value = (await token('create', 'ada')).stdout.trimEnd();
  for (const code of [0, 1]) {
    const revoked = await token('revoke', value);
    assert.equal(revoked.code, code);
    assert.ok(!revoked.stderr.includes(value), revoked.stderr);
    assert.deepEqual(readTokenFile(path), []);
  }
});

it('plant-store token › requires a tokens file, except for create, and an existing folder', async (t) => {
  const { cwd } = await openDesk(t);
  for (const command of ['token list', 'token revoke tk_0']) await assertFails(command, { cwd }, 'no tokens file');
  await assertFails('token create ada --tokens deep/tokens.json', { cwd }, 'no folder');
  assert.deepEqual(await readdir(cwd), []);
});
