import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readTokenFile } from '../../../src/tokens/token-file.ts';
import { callCommand } from '../../support/call-command.ts';
import { commandEnvironment, runProgram } from '../../support/run-program.ts';
import type { Finished } from '../../support/run-program.ts';
import { plantStore } from '../../support/sources.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import type { HasAfter } from '../../support/temporary-folder.ts';

/** Creates a folder. `token` runs `plant-store token` in this folder, and `path` is the default tokens file. */
async function openDesk(t: HasAfter) {
  const cwd = await temporaryFolder(t);
  const token = (...args: string[]): Promise<Finished> => callCommand(['token', ...args], { cwd });
  return { cwd, path: join(cwd, 'tokens.json'), token };
}

/** Arguments of `token create`, and the user, the scopes and the days until the expiry of the token. */
const creations: [args: string[], user: string, scopes?: string[] | undefined, days?: number][] = [
  [['ada'], 'ada'],
  [['Ada Lovelace 🌱'], 'Ada Lovelace 🌱'],
  [['--', '--help'], '--help'],
  [['ada', '--scope=plants:read'], 'ada', ['plants:read']],
  [['--scope', 'plants:write,plants:read', 'ada'], 'ada', ['plants:write', 'plants:read']],
  ...Object.entries({ '3600s': 1 / 24, '90m': 1 / 16, '36h': 1.5, '30d': 30, '2w': 14, '9999999d': 9_999_999 }).map(
    ([text, days]): [string[], string, undefined, number] => [['ada', '--expires-in', text], 'ada', undefined, days],
  ),
];

describe('plant-store token create', () => {
  it('prints only the token on standard output, and its id, user and file on standard error', async (t) => {
    const { path, token } = await openDesk(t);
    for (const [n, [args, user, scopes, days]] of creations.entries()) {
      const { code, stdout, stderr } = await token('create', ...args);
      assert.equal(code, 0, stderr);
      assert.match(stdout, /^pst_[0-9A-Za-z]{36}\n$/);
      const record = readTokenFile(path).at(-1) ?? assert.fail();
      for (const part of [record.id, user, path]) assert.ok(stderr.includes(part), stderr);
      assert.equal(stderr.includes('new file'), n === 0);
      assert.deepEqual([record.user, record.scopes], [user, scopes]);
      const { createdAt, expiresAt } = record;
      assert.equal(expiresAt === undefined, days === undefined);
      if (expiresAt === undefined || days === undefined) continue;
      assert.ok(Math.abs(Date.parse(expiresAt) - Date.parse(createdAt) - days * 86_400_000) < 1000, expiresAt);
    }
  });

  const skip = existsSync('/dev/full') ? false : 'this system has no /dev/full';
  it('stores no token and fails if standard output cannot be written', { skip }, async (t) => {
    const { cwd, path, token } = await openDesk(t);
    await token('create', 'ada');
    const kept = readTokenFile(path);
    const args = ['-c', '"$@" > /dev/full', 'sh', process.execPath, ...plantStore, 'token', 'create', 'bob'];
    const { code, stderr } = await runProgram('sh', args, { cwd, env: commandEnvironment() });
    assert.equal(code, 1, stderr);
    assert.match(stderr, /^plant-store: ENOSPC[^\n]*\n$/);
    assert.deepEqual(readTokenFile(path), kept);
  });
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
  const { cwd, token } = await openDesk(t);
  for (const args of [['list'], ['revoke', 'tk_0'], ['create', 'ada', '--tokens', 'deep/tokens.json']]) {
    const { code, stderr } = await token(...args);
    assert.equal(code, 1);
    assert.match(stderr, /There is no (?:tokens file|folder) /);
  }
  assert.deepEqual(await readdir(cwd), []);
});
