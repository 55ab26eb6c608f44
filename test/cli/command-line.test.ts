import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import { readCommandLine } from '../../src/cli/command-line.ts';
import { UsageError } from '../../src/cli/errors.ts';
import { commandNames, commands, flags, flagsOf, variablesOf } from '../../src/cli/table.ts';
import type { Command, Flag, FlagName } from '../../src/cli/table.ts';
import { documents, readDocument } from '../support/documents.ts';

const before = process.env;
afterEach(() => {
  process.env = before;
});

const url = 'postgres://ada:sesame@localhost';
const both = { PLANT_STORE_STORAGE: 'memory', DATABASE_URL: url };

/** Environments and arguments, each with the value and the source of the storage setting, and the warning. */
const readings: { env: NodeJS.ProcessEnv; args?: string[]; storage?: [string, string]; warning?: RegExp }[] = [
  { env: both, args: ['--storage', 'sqlite:a.db'], storage: ['sqlite:a.db', '--storage'] },
  { env: both, storage: ['memory', 'PLANT_STORE_STORAGE'], warning: /^PLANT_STORE_STORAGE and DATABASE_URL are set/ },
  { env: { PLANT_STORE_STORAGE: url, DATABASE_URL: url }, storage: [url, 'PLANT_STORE_STORAGE'] },
  { env: { PLANT_STORE_STORAGE: '', DATABASE_URL: url }, storage: [url, 'DATABASE_URL'] },
  { env: { PLANT_STORE_STORAGE: 'tcp://10.0.0.7:80' }, warning: /^PLANT_STORE_STORAGE is ignored, .*Kubernetes/ },
  { env: { PLANT_STORE_STORGE: url, HOST: 'laptop', DATABASE_URL: '' }, warning: /PLANT_STORE_STORGE is unknown/ },
  { env: { PLANT_STORE_SERVICE_PORT_HTTP: '80', PLANT_STORE_PORT_80_TCP_ADDR: '10.0.0.7' } },
];

it('readCommandLine › uses the flag, its variables or the default, and warns about an ignored variable', () => {
  for (const { env, args = [], storage = ['sqlite:plants.db', '--storage'], warning } of readings) {
    process.env = env;
    const { settings, warnings } = readCommandLine('export', args);
    assert.deepEqual([settings.storage.value, settings.storage.source], storage);
    assert.equal(warnings.length, warning === undefined ? 0 : 1, warnings.join());
    if (warning !== undefined) assert.match(warnings.join(), warning);
    assert.ok(!warnings.join().includes('sesame'));
  }
  process.env = { PORT: '8080', PLANT_STORE_DOCS: '1' };
  const { settings } = readCommandLine('serve', ['--create']);
  const values = [settings.port.value, settings.docs.value, settings.create.value, settings['admin-port'].value];
  assert.deepEqual(values, [8080, true, true, undefined]);
});

const unclean = ['jos\uFFFD', '\ud800', 'a\u0000', 'plants.db\r', '\u001b[31m', ' a', 'a\u00a0', '\uFEFFa'];

/** Returns invalid values of a flag. `problem` follows the name of the flag in the error message. */
function wrongValues({ value, max, words }: Flag): [wrong: string, problem: string][] {
  const wrong = (texts: string[], problem: string): [string, string][] => texts.map((text) => [text, problem]);
  if (value === undefined) return wrong(['yes', 'TRUE'], ' must be 1, true, 0 or false');
  if (words !== undefined) return wrong(['other'], ` must be ${words.join(' or ')}`);
  return wrong(max === undefined ? [] : [`${max + 1}`, '-1', '0x10', '1.5'], ` must be an integer from 0 to ${max}`);
}

it('readCommandLine › refuses an invalid operand, flag or variable, and names it', () => {
  for (const name of commandNames) {
    const { operand }: Command = commands[name];
    const valid = [...(operand === undefined ? [] : ['x']), ...(name === 'copy' ? ['--from=a', '--to=b'] : [])];
    const refuse = (message: string, args: string[]): void => {
      const isExpected = (error: unknown): boolean => error instanceof UsageError && error.message.startsWith(message);
      assert.throws(() => readCommandLine(name, args), isExpected, `${name}: ${message}`);
    };
    process.env = {};
    assert.ok(readCommandLine(name, valid));
    refuse("Unknown option '--\\u000abogus'", [...valid, '--\nbogus']);
    refuse('There are too many arguments', [...valid, '--', '--help']);
    if (operand !== undefined) {
      for (const missing of [[], ['']]) refuse(`${operand} is required`, missing);
      for (const text of unclean) refuse(`${operand} `, ['--', text]);
      refuse(`${operand} starts or ends with U+FEFF`, ['--', '\uFEFFa']);
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
  const texts = await Promise.all([...documents, ...deployed.map((file) => `deploy/${file}`)].map(readDocument));
  const known = (Object.keys(flags) as FlagName[]).flatMap(variablesOf);
  let uses = 0;
  for (const text of texts) {
    for (const [variable] of text.matchAll(/\bPLANT_STORE_[A-Z_]+/g)) assert.ok(known.includes(variable), variable);
    for (const [line, args = ''] of text.matchAll(
      /\bplant-store ((?:serve|token|copy|export|import|backup|restore)\b[^`|;&\n]*)/g,
    )) {
      const name = commandNames.find((each) => args.startsWith(each));
      for (const [, flag = ''] of args.matchAll(/ --([a-z-]+)/g)) {
        assert.ok(flag === 'help' || (name !== undefined && flag in commands[name].flags), line);
        uses++;
      }
    }
  }
  assert.ok(uses > 10);
});
