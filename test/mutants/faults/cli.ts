import { faultsIn } from '../fault.ts';
import type { Fault } from '../fault.ts';

const importCommand = 'test/cli/commands/import.test.ts';
const openPostgres = 'test/cli/open-postgres.test.ts';
const run = 'test/cli/run.test.ts';
const serve = 'test/cli/commands/serve.test.ts';

/** `src/cli`: options, storages and exit codes. */
export const cliFaults: readonly Fault[] = [
  ...faultsIn(
    'src/cli/advice.ts',
    ['test/cli/advice.test.ts'],
    [
      { name: 'advice: a cause gets no advice', find: ' ?? adviceFor(error.cause)', replace: '' },
      { name: 'advice: hosts need a password', find: 'return allowHost', replace: 'return checkCredentials' },
      { name: 'advice: 28000 is a host', find: `error.message.includes('pg_hba.conf')`, replace: 'true' },
      { name: 'advice: an extended SQLite code gets no advice', find: ' & 0xff', replace: '' },
      {
        name: 'advice: the cause of a message with its own advice gets advice',
        find: ` || !('code' in error)) return undefined;`,
        replace: `) return undefined;\n  if (!('code' in error)) return adviceFor(error.cause);`,
      },
    ],
  ),
  ...faultsIn(
    'src/cli/serve-config.ts',
    [run],
    [{ name: 'serve: port 65536 is accepted', find: '> 65_535', replace: '> 65_536' }],
  ),
  ...faultsIn(
    'src/cli/closest-name.ts',
    ['test/cli/closest-name.test.ts'],
    [
      {
        name: 'closest name: a swap of two letters counts twice',
        find: '?? 0) + 1 : Infinity',
        replace: '?? 0) + 2 : Infinity',
      },
      {
        name: 'closest name: the first similar name is returned',
        find: 'if (distance < least)',
        replace: 'if (closest === undefined && distance < least)',
      },
      {
        name: 'closest name: a prefix is not similar',
        find: 'name.startsWith(text) ? 1',
        replace: 'name.startsWith(` ${text}`) ? 1',
      },
      {
        name: 'closest name: a long text is similar to every name',
        find: 'Math.min(maxDistance, ',
        replace: 'Math.max(0, ',
      },
    ],
  ),
  ...faultsIn(
    'src/cli/command.ts',
    [serve],
    [
      {
        name: 'command: the environment overrides flags',
        find: 'if (flag !== undefined) return { text: flag, source: name };',
        replace: `if (flag !== undefined && fromEnvironment === undefined) return { text: flag, source: name };`,
      },
      { name: 'command: an empty environment variable is used', find: ` || fromEnvironment === ''`, replace: '' },
      {
        name: 'command: an empty flag is accepted',
        find: `if (flag === '') throw`,
        replace: `if (flag === ' ') throw`,
        tests: [run],
      },
      {
        name: 'command: extra arguments are accepted',
        find: 'if (extra !== undefined) throw',
        replace: 'if (extra === null) throw',
        tests: [run],
      },
    ],
  ),
  ...faultsIn(
    'src/cli/data-storage.ts',
    ['test/cli/commands/copy.test.ts'],
    [
      {
        name: 'data storage: a missing source file is created',
        find: 'if (file !== undefined) requireFile(file);',
        replace: '',
      },
      {
        name: 'data storage: memory is accepted as a target',
        find: `target.text === 'memory'`,
        replace: `target.text === 'Memory'`,
      },
    ],
  ),
  ...faultsIn(
    'src/cli/first-token.ts',
    ['test/cli/first-token.test.ts'],
    [
      {
        name: 'first token: the token is printed to a log',
        find: 'if (isTerminal) return',
        replace: 'if (!isTerminal) return',
      },
      { name: 'first token: other users can read the token', find: `'wx', 0o600`, replace: `'wx', 0o644` },
      {
        name: 'first token: a quote in a folder name is not escaped',
        find: `replaceAll("'", "'\\\\''")`,
        replace: `replaceAll("'", "'")`,
      },
    ],
  ),
  ...faultsIn(
    'src/cli/listen.ts',
    ['test/cli/listen.test.ts'],
    [
      {
        name: 'listen: the URL of an IPv6 address has no brackets',
        find: `host.includes(':') ?`,
        replace: `host.includes('::1:') ?`,
      },
      {
        name: 'listen: the URL for this machine contains 0.0.0.0',
        find: '0\\.0\\.0\\.0|',
        replace: '',
      },
    ],
  ),
  ...faultsIn(
    'src/cli/lines.ts',
    ['test/cli/lines.test.ts'],
    [
      {
        name: 'lines: line numbers start at 0',
        find: '++this.#number',
        replace: 'this.#number++',
        tests: [importCommand],
      },
      {
        name: 'lines: a line of the maximum length is rejected',
        find: 'bytes: this.#length > this.#maxBytes',
        replace: 'bytes: this.#length >= this.#maxBytes',
      },
      {
        name: 'lines: a line that is too long is kept in memory',
        find: 'if (this.#length > this.#maxBytes) this.#pieces = [];',
        replace: 'if (this.#length < 0) this.#pieces = [];',
      },
    ],
  ),
  ...faultsIn(
    'src/cli/open-postgres.ts',
    [openPostgres],
    [
      { name: 'open PostgreSQL: the pool is not closed', find: 'this.#pool.end()', replace: 'Promise.resolve()' },
      {
        name: 'open PostgreSQL: a lost idle connection ends the process',
        find: `pool.on('error', () => undefined);`,
        replace: '',
      },
      {
        name: 'open PostgreSQL: an error message contains the password',
        find: '${source} is not a connection',
        replace: '${source} ${connectionString} is not a connection',
      },
    ],
  ),
  ...faultsIn(
    'src/cli/open-storage.ts',
    ['test/cli/open-storage.test.ts'],
    [
      {
        name: 'open storage: an error message contains the connection string',
        find: '${withoutSecrets(name)}',
        replace: '${name}',
      },
      {
        name: 'open storage: an error message contains the query of the connection string',
        find: `.replace(/\\?.*/s, '?…')`,
        replace: '',
      },
      {
        name: 'open storage: a connection string without a scheme is suggested as a file name',
        find: '/^[\\w./\\\\~ -]+$/.test(name)',
        replace: 'true',
      },
      {
        name: 'open storage: an unknown storage name is treated as memory',
        find: `if (name === 'memory') return new`,
        replace: `if (!name.includes(':')) return new`,
      },
    ],
  ),
  ...faultsIn(
    'src/cli/plant-line.ts',
    [importCommand],
    [
      {
        name: 'plant line: invalid UTF-8 is accepted',
        find: `if (!isUtf8(bytes)) return { problem: 'it is not UTF-8.' };`,
        replace: '',
      },
      {
        name: 'plant line: any user is accepted',
        find: 'if (!isUser(user)) throw',
        replace: `if (typeof user !== 'string') throw`,
      },
      {
        name: 'plant line: a byte order mark is rejected',
        find: `number === 1 && decoded`,
        replace: `number === 0 && decoded`,
      },
    ],
  ),
  ...faultsIn(
    'src/cli/postgres-parameters.ts',
    ['test/cli/postgres-parameters.test.ts'],
    [
      {
        name: 'PostgreSQL parameters: the pool size is ignored',
        find: "Number(values.get('max') ?? defaultPoolSize)",
        replace: 'defaultPoolSize',
      },
      {
        name: 'PostgreSQL parameters: an integer has no maximum',
        find: ' && Number(value) <= rule.to',
        replace: '',
      },
      {
        name: 'PostgreSQL parameters: a value that is not in the list is accepted',
        find: '!rule.includes(value)',
        replace: 'rule.length === 0',
      },
      {
        name: 'PostgreSQL parameters: channel_binding=require is accepted without a verified certificate',
        find: "mode !== 'verify-full' && !verifiesName",
        replace: "mode === 'disable'",
      },
      {
        name: 'PostgreSQL parameters: unknown parameters are accepted',
        find: 'throw unknownParameter(source, shown);',
        replace: 'continue;',
      },
      {
        name: 'PostgreSQL parameters: an error message contains part of a password',
        find: ` && !query.includes('@')`,
        replace: '',
      },
    ],
  ),
  ...faultsIn(
    'src/cli/run.ts',
    [serve],
    [
      {
        name: 'run: the process title contains the arguments',
        find: 'process.title = `plant-store ${name}`;',
        replace: '',
      },
      { name: 'run: a usage error exits with 1', find: 'return isMisuse ? 2 : 1;', replace: 'return 1;', tests: [run] },
      {
        name: 'run: a missing command exits with 0',
        find: 'process.stderr.write(help);\n    return 2;',
        replace: 'process.stderr.write(help);\n    return 0;',
        tests: [run],
      },
      {
        name: 'run: a failure exits with 0',
        find: 'return isMisuse ? 2 : 1;',
        replace: 'return isMisuse ? 2 : 0;',
        tests: ['test/cli/commands/export.test.ts'],
      },
      {
        name: 'run: a closed log pipe ends the service',
        find: `stream.on('error', () => undefined);`,
        replace: 'stream.uncork();',
        tests: ['test/cli/commands/serve/log.test.ts'],
      },
    ],
  ),
  ...faultsIn(
    'src/cli/storage-probe.ts',
    ['test/cli/storage-probe.test.ts'],
    [
      { name: 'storage probe: a failure at startup is not logged', find: 'if (isStopped) return;', replace: 'return;' },
      {
        name: 'storage probe: a failed storage is not checked again',
        find: 'retry = setTimeout(',
        replace: 'if (isStopped) retry = setTimeout(',
      },
      {
        name: 'storage probe: a read-only storage passes',
        find: `await storage.commit([{ kind: 'delete', user: '', id: 0n }]);`,
        replace: '',
      },
    ],
  ),
];
