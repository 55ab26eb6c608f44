import assert from 'node:assert/strict';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { readTokenFile } from '../../../src/tokens/token-file.ts';
import { assertFails, callCommand } from '../../support/call-command.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { folderWithToken } from '../../support/token-server.ts';

/** Flags of `token create`, the scopes, and the number of days until the token expires. */
const creations: readonly { flags: string[]; scopes?: string[]; days?: number }[] = [
  { flags: [] },
  { flags: ['--scope=plants:read'], scopes: ['plants:read'] },
  { flags: ['--scope', 'plants:write,plants:read'], scopes: ['plants:write', 'plants:read'] },
  { flags: ['--expires-in', '3600s'], days: 1 / 24 },
  { flags: ['--expires-in', '90m'], days: 1 / 16 },
  { flags: ['--expires-in', '36h'], days: 1.5 },
  { flags: ['--expires-in', '9999999d'], days: 9_999_999 },
  { flags: ['--expires-in', '2w'], days: 14 },
];

it('plant-store token create › prints the token, and its id, user and file on standard error', async (t) => {
  const cwd = await temporaryFolder(t);
  const path = join(cwd, 'tokens.json');
  for (const { flags, scopes, days = NaN } of creations) {
    const user = 'Ada Lovelace 🌱';
    const { code, stdout, stderr } = await callCommand(['token', 'create', ...flags, user], { cwd });
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^pst_[0-9A-Za-z]{36}\n$/);
    const { id, createdAt, expiresAt = '', ...record } = readTokenFile(path).at(-1) ?? assert.fail();
    for (const part of [id, user, path]) assert.ok(stderr.includes(part), stderr);
    assert.deepEqual([record.user, record.scopes], [user, scopes]);
    const lifetimeDays = (Date.parse(expiresAt) - Date.parse(createdAt)) / 86_400_000;
    assert.equal(lifetimeDays.toFixed(2), days.toFixed(2));
  }
  await assertFails('token create ada --tokens deep/tokens.json', { cwd }, 'no folder');
  assert.deepEqual(await readdir(cwd), ['tokens.json']);
});

it('plant-store token list and revoke › print no secrets, and escape control characters', async (t) => {
  const { cwd, tokens: path, token } = await folderWithToken(t);
  const [ada] = readTokenFile(path);
  const record = { id: 'tk_\u202e1', user: 'a\ntk_forged \u001b[31mred', createdAt: '2026-01-01T00:00:00.000Z' };
  const sha256 = 'ab'.repeat(32);
  const records = [ada, { ...record, sha256, scopes: ['plants:read'], expiresAt: '2026-01-02T00:00:00.000Z' }];
  await writeFile(path, JSON.stringify({ version: 1, tokens: records }));
  const { stdout } = await callCommand(['token', 'list'], { cwd });
  const [, first = '', second = '', ...others] = stdout.split('\n');
  assert.match(first, /^tk_\w{10} +ada +plants:read,plants:write .* never$/);
  assert.match(second, /^tk_\\u202e1 +a\\u000atk_forged \\u001b\[31mred +plants:read .* \(expired\)$/);
  assert.deepEqual(others, ['']);
  for (const secret of [token, sha256]) assert.ok(!stdout.includes(secret));
  for (const [given, code, left] of [
    [token, 0, records.slice(1)],
    [token, 1, records.slice(1)],
    [sha256, 1, records.slice(1)],
    [record.id, 0, []],
  ] as const) {
    const revoked = await callCommand(['token', 'revoke', given], { cwd });
    assert.equal(revoked.code, code);
    assert.ok(!revoked.stderr.includes(token), revoked.stderr);
    assert.deepEqual(readTokenFile(path), left);
  }
  await writeFile(path, '{');
  await assertFails('token revoke tk_0', { cwd }, /not JSON.* No token was revoked\./);
  await rm(path);
  for (const command of ['token list', 'token revoke tk_0']) await assertFails(command, { cwd }, 'no tokens file');
  assert.deepEqual(await readdir(cwd), []);
});
