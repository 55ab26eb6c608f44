import assert from 'node:assert/strict';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { runProgram } from '../support/run-program.ts';
import { root, tsx } from '../support/sources.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

it('plant-store without an optional package › exits with 2 and says how to install it', async (t) => {
  // The copy of the source code finds no packages.
  const folder = await temporaryFolder(t);
  await cp(join(root, 'src'), join(folder, 'src'), { recursive: true });
  await cp(join(root, 'package.json'), join(folder, 'package.json'));
  for (const [flag, name] of [
    ['--storage=postgres://ada:sesame@localhost/plants', 'pg'],
    ['--docs', 'swagger-ui-dist'],
  ] as const) {
    const args = ['--import', tsx, 'src/cli/main.ts', 'serve', '--port', '0', '--storage=memory', flag];
    const { code, stderr } = await runProgram(process.execPath, args, { cwd: folder });
    assert.equal(code, 2, stderr);
    assert.match(stderr, new RegExp(`npm install ${name},`));
    assert.ok(!stderr.includes('sesame'));
  }
});
