import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { createTokenFileAuthenticator } from '../../../../src/tokens.ts';
import type { Caller } from '../../../../src/http.ts';
import { readTokenFile } from '../../../../src/tokens/token-file.ts';
import { callCommand } from '../../../support/call-command.ts';
import type { Finished } from '../../../support/run-program.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import type { HasAfter } from '../../../support/temporary-folder.ts';

interface Desk {
  readonly cwd: string;
  readonly path: string;
  readonly token: (...args: string[]) => Promise<Finished>;
}

/** Creates a folder. `token` runs `plant-store token` in this folder, and `path` is the default tokens file. */
async function openDesk(t: HasAfter, env: Record<string, string> = {}): Promise<Desk> {
  const cwd = await temporaryFolder(t);
  return { cwd, path: join(cwd, 'tokens.json'), token: (...args) => callCommand(['token', ...args], { cwd, env }) };
}

/** Returns the caller that the token printed by a command identifies. */
async function callerOf(path: string, { stdout }: Finished): Promise<Caller | null | undefined> {
  return createTokenFileAuthenticator(path)(stdout.trimEnd());
}

const failure = (message: string): Finished => ({ code: 1, stdout: '', stderr: `plant-store: ${message}\n` });

describe('plant-store token create', () => {
  it('prints only the token on standard output, and prints the token id on standard error', async (t) => {
    const { path, token } = await openDesk(t);
    const created = await token('create', 'ada');
    assert.match(created.stdout, /^pst_[0-9A-Za-z]{36}\n$/);
    const id = readTokenFile(path)[0]?.id;
    assert.deepEqual([created.code, created.stderr], [0, `Created ${id} in ${path}. The token is shown only once:\n`]);
  });

  it('creates a token with the given user and scopes', async (t) => {
    const { path, token } = await openDesk(t);
    for (const [args, caller] of [
      [['Ada Lovelace 🌱'], { user: 'Ada Lovelace 🌱' }],
      [['--', '--help'], { user: '--help' }],
      [['ada', '--scope', 'plants:read', '--scope=plants:read'], { user: 'ada', scopes: ['plants:read'] }],
      [
        ['--scope', 'plants:write', 'ada', '--scope', 'plants:read'],
        { user: 'ada', scopes: ['plants:write', 'plants:read'] },
      ],
    ] as const) {
      const created = await token('create', ...args);
      assert.deepEqual(await callerOf(path, created), { ...caller, tokenId: readTokenFile(path).at(-1)?.id });
    }
  });

  it('sets the expiry with --expires-in', async (t) => {
    const { path, token } = await openDesk(t);
    const daysOf = { '3600s': 1 / 24, '90m': 1 / 16, '36h': 1.5, '30d': 30, '2w': 14, '9999999d': 9_999_999 };
    for (const [text, days] of Object.entries(daysOf)) {
      await token('create', 'ada', '--expires-in', text);
      const { createdAt = '', expiresAt = '' } = readTokenFile(path).at(-1) ?? {};
      assert.ok(Math.abs(Date.parse(expiresAt) - Date.parse(createdAt) - days * 86_400_000) < 1000, expiresAt);
    }
  });
});

describe('plant-store token list', () => {
  it('prints id, user, scopes, creation and expiry in columns, without secrets', async (t) => {
    const { path, token } = await openDesk(t);
    const first = await token('create', 'ada');
    const second = await token('create', 'a longer name', '--scope', 'plants:read', '--expires-in', '30d');
    const listed = await token('list');
    assert.deepEqual([listed.code, listed.stderr], [0, '']);
    const [ada, longer] = readTokenFile(path);
    assert.ok(ada && longer);
    assert.deepEqual(listed.stdout.split('\n'), [
      'ID             USER           SCOPES                    CREATED                   EXPIRES',
      `${ada.id}  ada            plants:read,plants:write  ${ada.createdAt}  never`,
      `${longer.id}  a longer name  plants:read               ${longer.createdAt}  ${longer.expiresAt ?? ''}`,
      '',
    ]);
    for (const secret of [first.stdout.trimEnd(), second.stdout.trimEnd(), ada.sha256]) {
      assert.ok(!listed.stdout.includes(secret));
    }
  });

  it('marks expired tokens, and escapes control characters from a manually edited file', async (t) => {
    const { path, token } = await openDesk(t);
    const sha256 = 'ab'.repeat(32);
    const expired = { id: 'tk_1', user: 'ada', sha256, createdAt: '2026-01-01T00:00:00.000Z' };
    const forged = { id: 'tk_\u202e1', user: 'ada\ntk_forged \u001b[31mred', sha256: sha256.replace('a', 'c') };
    const records = [
      { ...expired, expiresAt: '2026-01-02T00:00:00.000Z' },
      { ...forged, createdAt: '1 Jan 2026 (\u202e\u009b)' },
    ];
    await writeFile(path, JSON.stringify({ version: 1, tokens: records }));
    const [, first = '', second = '', ...others] = (await token('list')).stdout.split('\n');
    assert.match(first, /^tk_1 .* {2}2026-01-02T00:00:00\.000Z \(expired\)$/);
    assert.match(second, /^tk_\\u202e1 {2}ada\\u000atk_forged \\u001b\[31mred .* \(\\u202e\\u009b\) +never$/);
    assert.deepEqual(others, ['']);
  });

  it('prints more tokens than a function can have arguments', async (t) => {
    const { path, token } = await openDesk(t);
    const records = Array.from({ length: 150_000 }, (_, n) => {
      return { id: `tk_${n}`, user: 'ada', sha256: String(n).padStart(64, '0'), createdAt: '2026-01-01T00:00:00.000Z' };
    });
    await writeFile(path, JSON.stringify({ version: 1, tokens: records }));
    const { code, stdout, stderr } = await token('list');
    assert.deepEqual([code, stderr, stdout.split('\n').length], [0, '', records.length + 2]);
  });
});

describe('plant-store token revoke', () => {
  it('removes the token with the given id or value, and prints only the id', async (t) => {
    const { path, token } = await openDesk(t);
    const [first, second, kept] = [
      await token('create', 'ada'),
      await token('create', 'ada'),
      await token('create', 'ada'),
    ];
    const ids = readTokenFile(path).map(({ id }) => id);
    const value = second.stdout.trimEnd();
    for (const [given, id] of [
      [ids[0] ?? '', ids[0]],
      [value, ids[1]],
    ] as const) {
      assert.deepEqual(await token('revoke', given), { code: 0, stdout: '', stderr: `Revoked ${id}.\n` });
    }
    for (const revoked of [first, second]) assert.equal(await callerOf(path, revoked), null);
    assert.equal((await callerOf(path, kept))?.user, 'ada');
    const missing = failure('There is no token with this id or value in tokens.json. See plant-store token list.');
    for (const unknown of [value, ids[1] ?? '']) assert.deepEqual(await token('revoke', unknown), missing);
  });
});

describe('tokens file of plant-store token', () => {
  it('is set by PLANT_STORE_TOKENS or --tokens', async (t) => {
    const { cwd, path, token } = await openDesk(t, { PLANT_STORE_TOKENS: 'environment.json' });
    await token('create', 'ada');
    await token('create', 'bob', '--tokens', 'flag.json');
    assert.match((await token('list')).stdout, / ada /);
    assert.match((await token('list', '--tokens', join(cwd, 'flag.json'))).stdout, / bob /);
    assert.ok(!existsSync(path));
  });

  it('must exist unless a token is created', async (t) => {
    const { cwd, path, token } = await openDesk(t);
    const noFile = failure(`There is no tokens file ${path}. Check the path, or create a token.`);
    for (const args of [['list'], ['revoke', 'tk_0']]) assert.deepEqual(await token(...args), noFile);
    const noFolder = `There is no folder ${cwd}/deep for the tokens file. Create the folder, or choose another file.`;
    assert.deepEqual(await token('list', '--tokens', 'deep/tokens.json'), failure(noFolder));
    assert.deepEqual(await readdir(cwd), []);
  });
});
