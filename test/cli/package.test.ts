import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runWithoutPackages } from '../support/without-packages.ts';

describe('plant-store, without an optional package,', () => {
  for (const [flag, name] of [
    ['--storage=postgres://ada:sesame@localhost/plants', 'pg'],
    ['--docs', 'swagger-ui-dist'],
  ] as const) {
    it(`exits with 2 and says how to install ${name}`, async (t) => {
      const output = await runWithoutPackages(t, ['serve', '--port', '0', '--storage=memory', flag]);
      assert.match(output, new RegExp(`npm install ${name},[^\n]*\n2\n$`));
      assert.ok(!output.includes('sesame'));
    });
  }
});
