import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { installCommand } from '../../../src/tools/cli/package.ts';
import { runWithoutPackages } from '../../support/without-packages.ts';

describe('installCommand', () => {
  it('installs a package where this package finds it: in a project, globally or in a clone', () => {
    for (const [folder, command] of [
      ['/srv/garden/node_modules/plant-store', 'npm install --prefix /srv/garden pg'],
      ['/usr/local/lib/node_modules/plant-store', 'npm install --global --prefix /usr/local pg'],
      ['/home/ada/plant-store', 'npm install --prefix /home/ada/plant-store pg'],
    ] as const) {
      assert.ok(installCommand('pg', folder).startsWith(command), folder);
    }
  });

  for (const [flag, name] of [
    ['--storage=postgres://ada:sesame@localhost/plants', 'pg'],
    ['--docs', 'swagger-ui-dist'],
  ] as const) {
    it(`is printed if ${name} is missing`, async (t) => {
      const output = await runWithoutPackages(t, ['serve', '--port', '0', '--storage=memory', flag]);
      assert.match(output, new RegExp(`npm install --prefix \\S+ ${name}\\.\n2\n$`));
      assert.ok(!output.includes('sesame'));
    });
  }
});
