import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { TestContext } from 'node:test';
import { flagsOf, readCommandLine, UsageError, variablesOf } from '../../src/cli/command-line.ts';
import type { CommandName, FlagName } from '../../src/cli/command-line.ts';
import { commands, flags } from '../../src/cli/table.ts';
import type { Command, Flag } from '../../src/cli/table.ts';
import { listDocs, readDocument } from '../support/documents.ts';

const names = Object.keys(commands) as CommandName[];

function setEnvironment(t: TestContext, variables: Record<string, string>): void {
  const { env } = process;
  process.env = variables;
  t.after(() => {
    process.env = env;
  });
}

it('readCommandLine › warns of each unknown variable, but not of those of a Kubernetes service', (t) => {
  const known = (Object.keys(flags) as FlagName[]).flatMap(variablesOf);
  const kubernetes = ['PLANT_STORE_SERVICE_PORT_HTTP', 'PLANT_STORE_PORT_80_TCP_ADDR'];
  const names = [...known, ...kubernetes, 'PLANT_STORE_STORGE'];
  setEnvironment(t, Object.fromEntries(names.map((name) => [name, 'secret'])));
  const [warning = '', ...others] = readCommandLine('export', []).warnings;
  assert.match(warning, /PLANT_STORE_STORGE/);
  assert.doesNotMatch(warning, /secret/);
  assert.deepEqual(others, []);
});

it('readCommandLine › warns if a variable does not count, and says why', (t) => {
  const [own, platform, ignored] = ['memory', 'postgres://ada:sesame@localhost', 'tcp://10.0.0.7:80'];
  setEnvironment(t, {});
  for (const { env, args = [], expected = [] } of [
    { env: { PLANT_STORE_STORAGE: own, DATABASE_URL: platform }, expected: [/PLANT_STORE_STORAGE .*DATABASE_URL/] },
    { env: { PLANT_STORE_STORAGE: own, DATABASE_URL: platform }, args: ['--storage', own] },
    { env: { PLANT_STORE_STORAGE: own, DATABASE_URL: own } },
    {
      env: { PLANT_STORE_ADMIN_PORT: ignored, PLANT_STORE_HOST: '' },
      expected: [/PLANT_STORE_ADMIN_PORT .*Kubernetes/],
    },
  ]) {
    process.env = env;
    const { warnings } = readCommandLine('serve', args);
    assert.equal(warnings.length, expected.length);
    for (const [n, pattern] of expected.entries()) assert.match(warnings[n] ?? '', pattern);
    assert.ok(!warnings.join('').includes('sesame'));
  }
});

it('readCommandLine › reads the flag, PLANT_STORE_…, the variable of a platform or the default, in this order', (t) => {
  setEnvironment(t, { PLANT_STORE_STORAGE: 'memory', DATABASE_URL: 'postgres://localhost' });
  const storage = (...args: string[]): unknown => readCommandLine('export', args).settings.storage;
  assert.deepEqual(storage('--storage', 'sqlite:a.db'), { value: 'sqlite:a.db', source: '--storage' });
  assert.deepEqual(storage(), { value: 'memory', source: 'PLANT_STORE_STORAGE' });
  process.env['PLANT_STORE_STORAGE'] = '';
  assert.deepEqual(storage(), { value: 'postgres://localhost', source: 'DATABASE_URL' });
  process.env['DATABASE_URL'] = '';
  assert.deepEqual(storage(), { value: 'sqlite:plants.db', source: '--storage' });
  // HOST and the address of a Kubernetes service are ignored.
  process.env = { HOST: 'my-laptop', PLANT_STORE_PORT: 'tcp://10.0.0.7:80', PORT: '8080', PLANT_STORE_DOCS: '1' };
  const { host, port, docs, create } = readCommandLine('serve', ['--create']).settings;
  assert.equal(host.value, '127.0.0.1');
  assert.deepEqual(port, { value: 8080, source: 'PORT' });
  assert.deepEqual([docs, create.value], [{ value: true, source: 'PLANT_STORE_DOCS' }, true]);
});

const unclean = ['jos\uFFFD', '\ud800', 'a\u0000', 'plants.db\r', '\u001b[31m', ' a', 'a\u00a0', '\uFEFFa'];

/** Returns values that a flag must refuse, each with what follows its name in the message. */
function wrongValues({ value, max, words }: Flag): [wrong: string, problem: string][] {
  const wrong = (texts: string[], problem: string): [string, string][] => texts.map((text) => [text, problem]);
  if (value === undefined) return wrong(['yes', 'TRUE'], ' must be 1 or true');
  if (words !== undefined) return wrong(['other'], ` must be ${words.join(' or ')}`);
  return wrong(max === undefined ? [] : [`${max + 1}`, '-1', '0x10', '1.5'], ` must be 0 to ${max}`);
}

it('readCommandLine › refuses each invalid operand, flag and variable by its name', (t) => {
  setEnvironment(t, {});
  for (const name of names) {
    const { operand }: Command = commands[name];
    const valid = [...(operand === undefined ? [] : ['x']), ...(name === 'copy' ? ['--from=a', '--to=b'] : [])];
    const refuse = (message: string, args: string[]): void => {
      const isExpected = (error: unknown): boolean => error instanceof UsageError && error.message.startsWith(message);
      assert.throws(() => readCommandLine(name, args), isExpected, `${name}: ${message}`);
    };
    process.env = {};
    assert.ok(readCommandLine(name, valid));
    refuse("Unknown option '--\\u000abogus'", [...valid, '--\nbogus']);
    refuse('There are too many arguments.', [...valid, '--', '--help']);
    if (operand !== undefined) {
      for (const missing of [[], ['']]) refuse(`${operand} is required`, missing);
      for (const text of unclean) refuse(`${operand} `, ['--', text]);
    }
    for (const flag of flagsOf(name)) {
      const row: Flag = flags[flag];
      process.env = {};
      const others = valid.filter((arg) => !arg.startsWith(`--${flag}=`));
      if (others.length < valid.length) refuse(`--${flag} ${row.value} is required`, others);
      if (row.value === undefined) {
        refuse(`Option '--${flag}' does not take an argument`, [...valid, `--${flag}=true`]);
      } else {
        refuse(`Option '--${flag} <value>' argument missing`, [...valid, `--${flag}`]);
        // Node.js would listen on all addresses if the host were empty.
        refuse(`--${flag} must not be empty`, [...valid, `--${flag}=`]);
      }
      for (const [text, problem] of [...wrongValues(row), ...unclean.map((text) => [text, ' '])]) {
        process.env = {};
        if (row.value !== undefined) refuse(`--${flag}${problem}`, [...valid, `--${flag}=${text}`]);
        for (const variable of variablesOf(flag)) {
          process.env = { [variable]: text };
          refuse(`${variable}${problem}`, valid);
        }
      }
    }
  }
});

it('docs and deploy › name only commands, flags and variables that exist', async () => {
  const deployed = ['systemd/plant-store.service', 'systemd/plant-store-backup.service', 'container/Containerfile'];
  const pages = ['README.md', 'SECURITY.md', 'CONTRIBUTING.md', ...(await listDocs())];
  const texts = await Promise.all([...pages, ...deployed.map((file) => `deploy/${file}`)].map(readDocument));
  const known = (Object.keys(flags) as FlagName[]).flatMap(variablesOf);
  let uses = 0;
  for (const text of texts) {
    for (const [variable] of text.matchAll(/\bPLANT_STORE_[A-Z_]+/g)) assert.ok(known.includes(variable), variable);
    for (const [line, args = ''] of text.matchAll(
      /\bplant-store ((?:serve|token|copy|export|import|backup|restore)\b[^`|;&\n]*)/g,
    )) {
      const name = names.find((each) => args.startsWith(each));
      for (const [, flag = ''] of args.matchAll(/ --([a-z-]+)/g)) {
        assert.ok(flag === 'help' || (name !== undefined && flag in commands[name].flags), line);
        uses++;
      }
    }
  }
  assert.ok(uses > 10);
});
