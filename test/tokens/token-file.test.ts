import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { link, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { InvalidTokenFileError, readTokenFile, tokenFileText } from '../../src/tokens/token-file.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const sha256 = 'ab'.repeat(32);
const record = { id: 'tk_1', user: 'ada', sha256, createdAt: '2026-01-01T00:00:00.000Z' };
const other = { ...record, sha256: '01'.repeat(32) };
const fileOf = (...tokens: unknown[]): string => JSON.stringify({ version: 1, tokens });

const invalidTexts: Readonly<Record<string, readonly string[]>> = {
  'not JSON': ['', '{', 'pst_secret', '{"version":1,"tokens":[]}}'],
  '{"version":1,"tokens":[…]}': ['null', '1', '[]', '{}', '{"version":2,"tokens":[]}', '{"version":1,"tokens":{}}'],
  'tokens[1]': [null, 'pst_secret', { ...record, [`pst_${'0'.repeat(36)}`]: 1 }].map((wrong) => fileOf(record, wrong)),
  'tokens[2] has the same id as tokens[0]': [fileOf(record, { ...other, id: 'tk_2' }, { ...other, id: 'tk_1' })],
  'tokens[1] has the same sha256 as tokens[0]': [fileOf(record, { ...record, id: 'tk_2' })],
};

const invalidFields: Readonly<Record<string, readonly unknown[]>> = {
  id: [1],
  user: [undefined, '', 'a\0'],
  sha256: [1, [sha256], sha256.toUpperCase(), sha256.slice(1), `${sha256}0`],
  scopes: ['plants:read', ['plants:read', 'plants:admin']],
  createdAt: [undefined, 7, 'yesterday', '2026-01-01'],
  // Date.parse accepts some of these times.
  expiresAt: [
    ...[null, 'never', 'never 2099', '2099', '2099-01-01', '2099-13-01T00:00:00Z', '2099-01-01T00:00:00'],
    ...['2099-01-01T00:00:00Z (never)', '(2000-01-01T00:00Z) 2099', ['2099-01-01T00:00:00Z']],
  ],
  // If a misspelled field were ignored, the token would have all scopes, or never expire.
  scope: [['plants:read']],
  expires_at: ['2099-01-01T00:00:00Z'],
};

it('readTokenFile › accepts an empty list, and records with and without optional fields', async (t) => {
  const path = join(await temporaryFolder(t), 'tokens.json');
  const records = [
    record,
    { ...other, id: 'tk_2', user: 'Ada Lovelace 🌱', expiresAt: '2027-01-01T00:00Z' },
    { ...record, id: 'tk_3', sha256: '02'.repeat(32), scopes: [], expiresAt: '+029405-01-01T00:00:00.000+02:00' },
    { ...record, id: 'tk_4', sha256: '03'.repeat(32), scopes: ['plants:read', 'plants:write'] as const },
  ];
  for (const kept of [[], records]) {
    for (const byteOrderMark of ['', '\ufeff']) {
      await writeFile(path, byteOrderMark + tokenFileText(kept));
      assert.deepEqual(readTokenFile(path), kept);
    }
  }
});

it('readTokenFile › rejects invalid content with a message that does not quote it', async (t) => {
  const path = join(await temporaryFolder(t), 'tokens.json');
  const assertInvalid = async (text: string | Buffer, problem: string): Promise<void> => {
    await writeFile(path, text);
    const isExplained = (error: unknown): boolean =>
      error instanceof InvalidTokenFileError && error.message.includes(problem) && !error.message.includes('pst_');
    assert.throws(() => readTokenFile(path), isExplained, `${problem}: ${text.toString()}`);
  };
  await assertInvalid(Buffer.from(fileOf({ ...record, user: 'jos\xe9' }), 'latin1'), 'not UTF-8');
  for (const [problem, texts] of Object.entries(invalidTexts)) {
    for (const text of texts) await assertInvalid(text, problem);
  }
  for (const [name, values] of Object.entries(invalidFields)) {
    for (const value of values) await assertInvalid(fileOf(record, { ...record, [name]: value }), ` ${name}.`);
  }
});

it('readTokenFile › rejects a missing file, a file with two hard links, a folder and a pipe', async (t) => {
  const folder = await temporaryFolder(t);
  const [path, pipe] = [join(folder, 'tokens.json'), join(folder, 'pipe')];
  assert.throws(() => readTokenFile(path), /There is no tokens file .*tokens\.json/);
  execFileSync('mkfifo', [pipe]);
  for (const wrong of [pipe, folder]) assert.throws(() => readTokenFile(wrong), /not a file/);
  await writeFile(path, fileOf(record));
  await link(path, `${path}.link`);
  assert.throws(() => readTokenFile(path), /hard link/);
});
