import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readTokenFile, tokenFileText } from '../../src/tokens/token-file.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const sha256 = 'ab'.repeat(32);
const record = { id: 'tk_1', user: 'ada', sha256, createdAt: '2026-01-01T00:00:00.000Z' };
const fileOf = (...tokens: unknown[]): string => JSON.stringify({ version: 1, tokens });

describe('readTokenFile', () => {
  it('accepts an empty list, records with and without options, and any text as the user', async (t) => {
    const path = join(await temporaryFolder(t), 'tokens.json');
    const records = [
      record,
      { ...record, sha256: '01'.repeat(32), user: 'Ada Lovelace 🌱' },
      { ...record, sha256: '02'.repeat(32), scopes: [], expiresAt: '2027-01-01T00:00:00Z' },
      { ...record, sha256: '03'.repeat(32), scopes: ['plants:read', 'plants:write'] as const },
    ];
    for (const kept of [[], records]) {
      await writeFile(path, tokenFileText(kept));
      assert.deepEqual(readTokenFile(path), kept);
    }
  });

  it('rejects a pipe, which could block the process, and a folder', async (t) => {
    const folder = await temporaryFolder(t);
    const pipe = join(folder, 'pipe');
    spawnSync('mkfifo', [pipe]);
    for (const path of [pipe, folder]) {
      assert.throws(() => readTokenFile(path), { message: `${path} cannot be used: it is not a file.` });
    }
  });

  it('rejects text that is not JSON, without quoting it', async (t) => {
    const path = join(await temporaryFolder(t), 'tokens.json');
    for (const text of ['', '{', 'pst_secret', '{"version":1,"tokens":[]}}']) {
      await writeFile(path, text);
      assert.throws(() => readTokenFile(path), { message: `${path} cannot be used: it is not JSON.` });
    }
  });

  it('rejects JSON that is not a tokens file', async (t) => {
    const path = join(await temporaryFolder(t), 'tokens.json');
    for (const text of [
      'null',
      '1',
      '[]',
      '{}',
      '{"version":2,"tokens":[]}',
      '{"version":1,"tokens":{}}',
      '{"version":1}',
    ]) {
      await writeFile(path, text);
      assert.throws(() => readTokenFile(path), {
        message: `${path} cannot be used: it is not {"version":1,"tokens":[…]}.`,
      });
    }
  });

  const wrongRecords: Record<string, unknown> = {
    null: null,
    'a string': 'pst_secret',
    'an id that is not a string': { ...record, id: 1 },
    'no user': { ...record, user: undefined },
    'an empty user': { ...record, user: '' },
    'a user with U+0000': { ...record, user: 'a\0' },
    'a digest that is not a string': { ...record, sha256: 1 },
    'a digest in upper case': { ...record, sha256: sha256.toUpperCase() },
    'a digest that is too short': { ...record, sha256: sha256.slice(1) },
    'scopes that are not an array': { ...record, scopes: 'plants:read' },
    'an unknown scope': { ...record, scopes: ['plants:read', 'plants:admin'] },
    'no creation time': { ...record, createdAt: undefined },
    'an invalid creation time': { ...record, createdAt: 'yesterday' },
    'an invalid expiry': { ...record, expiresAt: 'never' },
    'an expiry of null': { ...record, expiresAt: null },
  };
  for (const [what, wrong] of Object.entries(wrongRecords)) {
    it(`rejects a file with ${what}, and names the position of the record without quoting it`, async (t) => {
      const path = join(await temporaryFolder(t), 'tokens.json');
      await writeFile(path, fileOf(record, wrong));
      const message = `${path} cannot be used: entry 1 of its tokens is not a token record.`;
      assert.throws(() => readTokenFile(path), { message });
    });
  }

  it('rejects two records with the same digest, and names both', async (t) => {
    const path = join(await temporaryFolder(t), 'tokens.json');
    const between = { ...record, id: 'tk_2', sha256: 'cd'.repeat(32) };
    await writeFile(path, fileOf(record, between, { ...record, id: 'tk_3', user: 'eve' }));
    const problem = `${path} cannot be used: tk_1 and`;
    assert.throws(() => readTokenFile(path), { message: `${problem} tk_3 have the same sha256.` });
    await writeFile(path, fileOf(record, { ...record, id: '\u001b[2J' }));
    assert.throws(() => readTokenFile(path), { message: `${problem} entry 1 have the same sha256.` });
  });

  it('quotes the error of the operating system if the file cannot be read', async (t) => {
    const path = join(await temporaryFolder(t), 'tokens.json');
    assert.throws(() => readTokenFile(path), { message: /cannot be used: ENOENT/ });
  });
});
