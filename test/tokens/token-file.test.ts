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
      assert.throws(() => readTokenFile(path), {
        message: `${path} cannot be used: it is not JSON. Correct it, or restore a backup.`,
      });
    }
  });

  it('rejects JSON that is not a tokens file', async (t) => {
    const path = join(await temporaryFolder(t), 'tokens.json');
    const message = `${path} cannot be used: it is not {"version":1,"tokens":[…]}.`;
    const versions = ['{"version":2,"tokens":[]}', '{"version":1,"tokens":{}}', '{"version":1}'];
    for (const text of ['null', '1', '[]', '{}', ...versions]) {
      await writeFile(path, text);
      assert.throws(() => readTokenFile(path), { message });
    }
  });

  it('rejects an invalid record, and names its position without quoting it', async (t) => {
    const path = join(await temporaryFolder(t), 'tokens.json');
    const wrong: Record<string, unknown[]> = {
      id: [1],
      user: [undefined, '', 'a\0'],
      sha256: [1, sha256.toUpperCase(), sha256.slice(1)],
      scopes: ['plants:read', ['plants:read', 'plants:admin']],
      createdAt: [undefined, 'yesterday'],
      expiresAt: ['never', null],
    };
    const records = Object.entries(wrong).flatMap(([name, values]) =>
      values.map((value) => ({ ...record, [name]: value })),
    );
    for (const invalid of [null, 'pst_secret', ...records]) {
      await writeFile(path, fileOf(record, invalid));
      const message = `${path} cannot be used: entry 1 of its tokens is not a token record.`;
      assert.throws(() => readTokenFile(path), { message }, JSON.stringify(invalid));
    }
  });

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
