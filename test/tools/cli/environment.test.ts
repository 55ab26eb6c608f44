import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { callCommand } from '../../support/call-command.ts';
import { root } from '../../support/sources.ts';
import { folderWithToken } from '../../support/token-server.ts';

const unknown = (name: string, rest: string): string =>
  `plant-store: The environment variable ${name} is unknown and has no effect. ${rest}\n`;

describe('environment of plant-store', () => {
  const cases: [name: string, rest: string][] = [
    ['PLANT_STORE_STORGE', "Did you mean 'PLANT_STORE_STORAGE'?"],
    ['PLANT_STORE_storage', "Did you mean 'PLANT_STORE_STORAGE'?"],
    ['PLANT_STORE_TRUSTED_PROXY', "Did you mean 'PLANT_STORE_TRUSTED_PROXIES'?"],
    ['PLANT_STORE_CHECK_TOKEN', "Did you mean 'PLANT_STORE_CHECK_TOKENS'?"],
    ['PLANT_STORE_URL', 'See plant-store token --help.'],
    ['PLANT_STORE_\u001b[2J', 'See plant-store token --help.'],
  ];
  for (const [name, rest] of cases) {
    it(`causes a warning about ${JSON.stringify(name)} that contains: ${rest}`, async (t) => {
      const { cwd } = await folderWithToken(t);
      const { code, stderr } = await callCommand(['token', 'list'], { cwd, env: { [name]: 'pst_secret' } });
      assert.deepEqual([code, stderr], [0, unknown(name.replace('\u001b', '\\u001b'), rest)]);
    });
  }

  it('is named in the message about an invalid setting', async () => {
    for (const [name, rule] of [
      ['PORT', 'must be 0 to 65535'],
      ['PLANT_STORE_PORT', 'must be 0 to 65535'],
      ['PLANT_STORE_DOCS', 'must be 0 or 1'],
    ] as const) {
      const stderr = `plant-store: ${name} ${rule}, not 'yes'.\n`;
      const finished = await callCommand(['serve'], { cwd: '/', env: { [name]: 'yes' } });
      assert.deepEqual(finished, { code: 2, stdout: '', stderr });
    }
  });

  it('causes no warning about documented variables or empty variables', async (t) => {
    const { cwd } = await folderWithToken(t);
    const documents = ['docs/operations.md', 'docs/testing.md'].map((name) => readFile(join(root, name), 'utf8'));
    const names = (await Promise.all(documents)).flatMap((text) => text.match(/PLANT_STORE_\w+/g) ?? []);
    assert.equal(new Set(names).size, 13);
    const env = {
      ...Object.fromEntries(names.map((name) => [name, name === 'PLANT_STORE_TOKENS' ? 'tokens.json' : '1'])),
      PLANT_STORE_NOTHING: '',
    };
    const { code, stderr } = await callCommand(['token', 'list'], { cwd, env });
    assert.deepEqual([code, stderr], [0, '']);
  });
});
