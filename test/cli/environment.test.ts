import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { UsageError } from '../../src/cli/command.ts';
import { setting, settings, variableOf, variableWarnings } from '../../src/cli/environment.ts';
import type { TestContext } from 'node:test';

function setEnvironment(t: TestContext, variables: Record<string, string>): void {
  const { env } = process;
  process.env = variables;
  t.after(() => {
    process.env = env;
  });
}

describe('environment of plant-store', () => {
  it('causes a warning about each unknown variable, but not about those of a Kubernetes service', (t) => {
    const known = Object.keys(settings).map(variableOf);
    const kubernetes = ['PLANT_STORE_SERVICE_PORT_HTTP', 'PLANT_STORE_PORT_80_TCP_ADDR'];
    const unknown = ['PLANT_STORE_STORGE', 'PLANT_STORE_NOTHING'];
    setEnvironment(t, Object.fromEntries([...known, ...kubernetes, ...unknown].map((name) => [name, 'secret'])));
    const warnings = variableWarnings();
    assert.deepEqual(
      warnings.map((warning) => /PLANT_STORE_\S+/.exec(warning)?.[0]),
      unknown,
    );
    assert.ok(!warnings.some((warning) => warning.includes('secret')));
  });
});

describe('setting', () => {
  it('returns the first that is set: the flag, PLANT_STORE_STORAGE, DATABASE_URL or a default file', (t) => {
    setEnvironment(t, { PLANT_STORE_STORAGE: 'memory', DATABASE_URL: 'postgres://localhost' });
    assert.deepEqual(setting('storage', 'sqlite:a.db'), { text: 'sqlite:a.db', source: '--storage' });
    assert.deepEqual(setting('storage', undefined), { text: 'memory', source: 'PLANT_STORE_STORAGE' });
    process.env['PLANT_STORE_STORAGE'] = '';
    assert.deepEqual(setting('storage', undefined), { text: 'postgres://localhost', source: 'DATABASE_URL' });
    process.env['DATABASE_URL'] = '';
    assert.deepEqual(setting('storage', undefined), { text: 'sqlite:plants.db', source: '--storage' });
    assert.throws(() => setting('storage', ''), UsageError);
  });

  it('ignores HOST and the address of a Kubernetes service', (t) => {
    setEnvironment(t, { HOST: 'my-laptop', PLANT_STORE_PORT: 'tcp://10.0.0.7:80', PORT: '8080' });
    assert.equal(setting('host', undefined).text, '127.0.0.1');
    assert.deepEqual(setting('port', undefined), { text: '8080', source: 'PORT' });
  });
});
