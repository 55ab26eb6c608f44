import { faultsIn } from '../fault.ts';
import type { Fault } from '../fault.ts';

const copy = 'test/cli/commands/copy.test.ts';
const importTest = 'test/cli/commands/import.test.ts';
const exportTest = 'test/cli/commands/export.test.ts';
const log = 'test/cli/output/log.test.ts';
const secrets = 'test/cli/output/log-secrets.test.ts';
const run = 'test/cli/run.test.ts';
const serve = 'test/cli/commands/serve.test.ts';
const stop = 'test/cli/commands/serve-stop.test.ts';
const storage = 'test/cli/open-storage.test.ts';
const token = 'test/cli/commands/token.test.ts';

/** Commands, their exit codes, and what they print. */
export const cliFaults: readonly Fault[] = [
  ...faultsIn(
    'src/cli/commands/serve.ts',
    [stop],
    [
      {
        name: 'a second signal does nothing',
        find: 'if (now - firstAt > sameSignalMs) process.exit(128 + number);',
        replace: '',
      },
      { name: 'a signal that npm passes on counts twice', find: 'sameSignalMs = 100', replace: 'sameSignalMs = 0' },
      {
        name: 'a stop cuts off what is under way',
        find: 'drainServer(server, drainGraceMs)',
        replace: 'drainServer(server, 0)',
      },
      { name: 'SIGTERM ends the process at once', find: `.on('SIGTERM', onSignal)`, replace: '' },
      { name: 'SIGHUP ends the process at once', find: `.on('SIGHUP', onSignal)`, replace: '' },
      {
        name: 'the storage stays open at the end',
        find: 'store.close(), ',
        replace: '',
        tests: ['test/cli/open-postgres.test.ts'],
      },
      { name: 'a port over the largest is tried', find: '> 65_535', replace: '> 65_536', tests: [run] },
      {
        name: 'a first start makes a token for nobody',
        find: 'if (firstTarget !== undefined) authenticate = useTokens();',
        replace: '',
        tests: [serve],
      },
      {
        name: 'what is no HTTP is not logged',
        find: `    server.on('clientError', (error) => {
      log.refusal(error);
    });`,
        replace: '',
        tests: [log],
      },
      {
        name: 'an IPv6 address is written without brackets',
        find: `host.includes(':') ?`,
        replace: `host.includes('::1:') ?`,
        tests: [serve],
      },
    ],
  ),
  ...faultsIn(
    'src/cli/first-token.ts',
    ['test/cli/first-token.test.ts'],
    [
      { name: 'the first token goes to a log', find: 'if (isTerminal) return', replace: 'if (!isTerminal) return' },
      { name: 'others can read the first token', find: `'wx', 0o600`, replace: `'wx', 0o644` },
      {
        name: 'a quote in the name of the folder ends the word',
        find: `replaceAll("'", "'\\\\''")`,
        replace: `replaceAll("'", "'")`,
      },
    ],
  ),
  ...faultsIn(
    'src/cli/output/log.ts',
    [log],
    [
      {
        name: 'the log shows paths',
        find: '{ route: match.route.path }',
        replace: '{ route: path }',
        tests: [secrets],
      },
      {
        name: 'the log shows paths that are not routes',
        find: '{ pathLength: path.length }',
        replace: '{ route: path }',
        tests: [secrets],
      },
      {
        name: 'the log shows any method',
        find: `knownMethods.has(method) ? method : 'other'`,
        replace: 'method',
        tests: [secrets],
      },
      {
        name: 'the log shows tokens',
        find: `method: knownMethod(request.method ?? ''),`,
        replace: 'method: request.method,\n        authorization: request.headers.authorization,',
      },
      {
        name: 'a client that went away looks answered',
        find: `response.writableFinished ? undefined : 'client gone'`,
        replace: 'undefined',
      },
      {
        name: 'the log leaves out errors',
        find: 'error: error === undefined ? undefined : errorText(error)',
        replace: 'error: undefined',
      },
      { name: 'an error that comes again is not counted', find: 'this.#repeats.set(key, repeats + 1);', replace: '' },
      {
        name: 'a storage that is down floods the log',
        find: 'if (repeats !== undefined) {',
        replace: 'if (repeats !== undefined && repeats > 1e9) {',
      },
      {
        name: 'another cause of an error counts as the same',
        find: 'error === undefined ? message : `${message}: ${errorSummary(error)}`',
        replace: 'message',
      },
      { name: 'an error that was told once is never told again', find: 'this.#repeats.clear();', replace: '' },
      {
        name: 'the last repeats are not told',
        find: 'flush(): void {\n    this.#reportRepeats();',
        replace: 'flush(): void {',
      },
      {
        name: 'the last lines are not written',
        find: 'process.stderr.write(this.#lines);',
        replace: 'if (this.#lines.length > 1000) process.stderr.write(this.#lines);',
      },
    ],
  ),
  ...faultsIn(
    'src/cli/storage-probe.ts',
    ['test/cli/storage-probe.test.ts'],
    [
      { name: 'a storage that fails at the start is not logged', find: 'if (isStopped) return;', replace: 'return;' },
      {
        name: 'a storage that failed is not tried again',
        find: 'retry = setTimeout(',
        replace: 'if (isStopped) retry = setTimeout(',
      },
      {
        name: 'a read-only storage looks fine',
        find: `await storage.commit([{ kind: 'delete', user: '', id: 0n }]);`,
        replace: '',
      },
    ],
  ),
  ...faultsIn(
    'src/cli/open-storage.ts',
    [storage],
    [
      { name: 'a mistaken connection string is shown', find: '${withoutSecrets(name)}', replace: '${name}' },
      { name: 'a password in the query is shown', find: `.replace(/\\?.*/s, '?…')`, replace: '' },
      {
        name: 'a storage that nobody knows is memory',
        find: `if (name === 'memory') return`,
        replace: `if (!name.includes(':')) return`,
      },
    ],
  ),
  ...faultsIn(
    'src/cli/command.ts',
    [serve],
    [
      {
        name: 'the environment comes before flags',
        find: 'if (flag !== undefined) return { text: flag, source: name };',
        replace: `if (flag !== undefined && fromEnvironment === undefined) return { text: flag, source: name };`,
      },
      { name: 'an empty variable counts', find: ` || fromEnvironment === ''`, replace: '' },
      {
        name: 'an empty flag counts',
        find: `if (flag === '') throw`,
        replace: `if (flag === ' ') throw`,
        tests: [run],
      },
      {
        name: 'arguments that nobody asked for are taken',
        find: 'if (extra !== undefined) throw',
        replace: 'if (extra === null) throw',
        tests: [run],
      },
    ],
  ),
  ...faultsIn(
    'src/cli/run.ts',
    [run],
    [
      {
        name: 'everybody on the machine sees the arguments',
        find: 'process.title = `plant-store ${name}`;',
        replace: '',
        tests: [serve],
      },
      { name: 'misuse exits with 1', find: 'return isMisuse ? 2 : 1;', replace: 'return 1;' },
      {
        name: 'a failure exits with 0',
        find: 'return isMisuse ? 2 : 1;',
        replace: 'return isMisuse ? 2 : 0;',
        tests: [exportTest],
      },
      {
        name: 'whoever stops reading the log stops the service',
        find: `stream.on('error', () => undefined);`,
        replace: 'stream.uncork();',
        tests: [log],
      },
    ],
  ),
  ...faultsIn(
    'src/transfer/add-plants.ts',
    [importTest],
    [
      {
        name: 'what is in the way is deleted first',
        find: 'const outcomes = await storage',
        replace: `await storage.commit(pending.map(({ user, plant: { id } }) => ({ kind: 'delete', user, id })));\n    const outcomes = await storage`,
      },
      { name: 'another tag is no conflict', find: ' && a.tag === b.tag', replace: '', tests: [copy] },
      {
        name: 'a conflict counts as there already',
        find: 'else tally.conflict({ ...owned, existing });',
        replace: 'else tally.present++;',
      },
      { name: 'what was refused counts as added', find: 'pending.length - refused.length', replace: 'pending.length' },
    ],
  ),
  ...faultsIn(
    'src/transfer/copy-plants.ts',
    ['test/transfer/copy-plants.test.ts'],
    [
      {
        name: 'an unknown option of copyPlants passes',
        find: `checkOptionNames('copyPlants', options, optionNames);`,
        replace: '',
      },
      { name: 'conflicts are not reported one by one', find: 'this.#onConflict?.(conflict);', replace: '' },
      {
        name: 'a copy reports no progress',
        find: 'onProgress?.(tally.counts);',
        replace: 'if (tally.added < 0) onProgress?.(tally.counts);',
      },
      {
        name: 'a storage is copied onto itself by copyPlants',
        find: 'if (from === to) throw',
        replace: 'if (from === to && from === undefined) throw',
      },
    ],
  ),
  ...faultsIn(
    'src/cli/commands/copy.ts',
    [copy],
    [
      { name: 'a copy with conflicts exits with 0', find: 'return tally.isComplete ? 0 : 1;', replace: 'return 0;' },
      {
        name: 'a storage is copied onto itself',
        find: 'if (isSameStorage(from, to)) throw',
        replace: 'if (from.text === to.text) throw',
      },
    ],
  ),
  ...faultsIn(
    'src/cli/data-storage.ts',
    [copy],
    [
      { name: 'a source that is not there is made', find: 'if (file !== undefined) requireFile(file);', replace: '' },
      { name: 'memory is a target', find: `target.text === 'memory'`, replace: `target.text === 'Memory'` },
    ],
  ),
  ...faultsIn(
    'src/transfer/overlapped.ts',
    ['test/transfer/overlapped.test.ts'],
    [
      {
        name: 'the work on the last item is not waited for',
        find: '[next] = await Promise.all([making, working]);',
        replace: 'void working.catch(() => undefined);\n    next = await making;',
      },
    ],
  ),
  ...faultsIn(
    'src/transfer/plant-finder.ts',
    [copy],
    [
      {
        name: 'the plant that is looked for is skipped',
        find: 'after: { user, id: id - 1n }',
        replace: 'after: { user, id }',
      },
      {
        name: 'the smallest id is looked for behind itself',
        find: 'if (id === minInt64) {',
        replace: 'if (id < minInt64) {',
      },
    ],
  ),
  ...faultsIn(
    'src/cli/commands/import.ts',
    [importTest],
    [
      { name: 'an import with bad lines exits with 0', find: 'return tally.isComplete ? 0 : 1;', replace: 'return 0;' },
      {
        name: '--strict goes on',
        find: 'if (!isStrict) continue;',
        replace: 'if (!isStrict || line.number > 0) continue;',
      },
      {
        name: '--strict leaves out what is before the bad line',
        find: 'yield cut();\n        return;',
        replace: 'return;',
      },
      {
        name: 'a batch has a key twice',
        find: ' || keys.has(key)',
        replace: '',
        tests: ['test/cli/open-postgres.test.ts'],
      },
      {
        name: 'an import holds all that it reads',
        find: 'plants.length === maxPageLength || bytes >= maxPageBytes || ',
        replace: '',
      },
      { name: 'the last batch is left out', find: '    }\n  }\n  yield cut();', replace: '    }\n  }' },
      { name: 'a last line without an end is left out', find: 'yield undefined;', replace: '' },
    ],
  ),
  ...faultsIn(
    'src/cli/lines.ts',
    [importTest],
    [
      { name: 'lines count from 0', find: '++this.#number', replace: 'this.#number++' },
      {
        name: 'a line of the largest length is left out',
        find: 'bytes: this.#length > this.#maxBytes',
        replace: 'bytes: this.#length >= this.#maxBytes',
        tests: ['test/cli/lines.test.ts'],
      },
      {
        name: 'a long line is held as a whole',
        find: 'if (this.#length > this.#maxBytes) this.#pieces = [];',
        replace: 'if (this.#length < 0) this.#pieces = [];',
        tests: ['test/cli/lines.test.ts'],
      },
    ],
  ),
  ...faultsIn(
    'src/cli/plant-line.ts',
    [importTest],
    [
      {
        name: 'a line that is no UTF-8 is taken',
        find: `if (!isUtf8(bytes)) return { problem: 'it is not UTF-8.' };`,
        replace: '',
      },
      {
        name: 'a line may have any user',
        find: 'if (!isUser(user)) throw',
        replace: `if (typeof user !== 'string') throw`,
      },
      {
        name: 'a byte order mark makes a line bad',
        find: `number === 1 && decoded`,
        replace: `number === 0 && decoded`,
      },
    ],
  ),
  ...faultsIn(
    'src/cli/output/tally.ts',
    [copy],
    [
      {
        name: 'bad lines do not count',
        find: 'this.#conflicts === 0 && this.#badLines === 0',
        replace: 'this.#conflicts === 0',
        tests: [importTest],
      },
      { name: 'a user can forge a line', find: 'printable(JSON.stringify(text))', replace: 'text' },
      {
        name: 'a user can send the terminal commands',
        find: 'printable(JSON.stringify(text))',
        replace: 'JSON.stringify(text)',
        tests: ['test/cli/output/tally.test.ts'],
      },
    ],
  ),
  ...faultsIn(
    'src/cli/commands/export.ts',
    [exportTest],
    [
      { name: 'exported ids are rounded', find: '"id":${id}', replace: '"id":${Number(id)}' },
      {
        name: 'an export that nobody read to its end looks complete',
        find: 'if (error) reject(',
        replace: 'if (error instanceof RangeError) reject(',
      },
      {
        name: 'a slow reader is not waited for',
        find: 'await print(page.map(toLine)',
        replace: 'void print(page.map(toLine)',
      },
    ],
  ),
  ...faultsIn(
    'src/cli/output/printable.ts',
    ['test/cli/output/printable.test.ts'],
    [
      { name: 'a user can reverse a line', find: '\\p{Cf}', replace: '' },
      {
        name: 'half of a character is escaped',
        find: `.split('').map(escaped).join('')`,
        replace: `.slice(0, 1).split('').map(escaped).join('')`,
      },
    ],
  ),
  ...faultsIn(
    'src/cli/commands/token.ts',
    [token],
    [
      { name: 'a day is short', find: 'd: 86_400_000', replace: 'd: 8_640_000' },
      { name: 'a list of tokens can be forged', find: '.map(printable)', replace: '' },
      { name: 'a token of one scope has both', find: '...(scopes && { scopes: [...new Set(scopes)] }),', replace: '' },
      {
        name: 'revoking an unknown token succeeds',
        find: 'if (!revokeToken(path, id)) throw',
        replace: "if (!revokeToken(path, id) && id === '') throw",
      },
    ],
  ),
];
