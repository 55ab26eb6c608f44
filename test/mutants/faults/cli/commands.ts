import { faultsIn } from '../../fault.ts';
import type { Fault } from '../../fault.ts';

/** `src/cli/commands`: one file for each command. */
export const commandFaults: readonly Fault[] = [
  ...faultsIn(
    'src/cli/commands/copy.ts',
    ['test/cli/commands/copy.test.ts'],
    [
      { name: 'copy: conflicts exit with 0', find: 'return tally.isComplete ? 0 : 1;', replace: 'return 0;' },
      {
        name: 'copy: a storage may be copied to itself under another name',
        find: 'if (isSameStorage(from, to)) throw',
        replace: 'if (from.text === to.text) throw',
      },
    ],
  ),
  ...faultsIn(
    'src/cli/commands/export.ts',
    ['test/cli/commands/export.test.ts'],
    [
      { name: 'export: ids are rounded', find: '"id":${id}', replace: '"id":${Number(id)}' },
      {
        name: 'export: a closed pipe is not an error',
        find: 'if (error) reject(',
        replace: 'if (error instanceof RangeError) reject(',
      },
      {
        name: 'export: back-pressure is ignored',
        find: 'await print(page.map(toLine)',
        replace: 'void print(page.map(toLine)',
      },
    ],
  ),
  ...faultsIn(
    'src/cli/commands/import.ts',
    ['test/cli/commands/import.test.ts'],
    [
      { name: 'import: invalid lines exit with 0', find: 'return tally.isComplete ? 0 : 1;', replace: 'return 0;' },
      {
        name: 'import: --strict continues after an invalid line',
        find: 'if (!isStrict) continue;',
        replace: 'if (!isStrict || line.number > 0) continue;',
      },
      {
        name: 'import: --strict drops the lines before the invalid one',
        find: 'yield cut();\n        return;',
        replace: 'return;',
      },
      { name: 'import: a batch contains a key twice', find: ' || keys.has(key)', replace: '' },
      {
        name: 'import: the size of a batch is not limited',
        find: 'plants.length === maxPageLength || bytes >= maxPageBytes || ',
        replace: '',
      },
      { name: 'import: the last batch is dropped', find: '    }\n  }\n  yield cut();', replace: '    }\n  }' },
      { name: 'import: a last line without a line end is dropped', find: 'yield undefined;', replace: '' },
    ],
  ),
  ...faultsIn(
    'src/cli/commands/serve.ts',
    ['test/cli/commands/serve/stop.test.ts'],
    [
      {
        name: 'serve: a second signal does not end the process',
        find: 'if (now - firstAt > sameSignalMs) process.exit(128 + number);',
        replace: '',
      },
      { name: 'serve: a signal repeated by npm counts twice', find: 'sameSignalMs = 100', replace: 'sameSignalMs = 0' },
      {
        name: 'serve: a stop closes busy connections at once',
        find: 'drainServer(server, drainGraceMs)',
        replace: 'drainServer(server, 0)',
      },
      { name: 'serve: SIGTERM ends the process at once', find: `.on('SIGTERM', onSignal)`, replace: '' },
      { name: 'serve: SIGHUP ends the process at once', find: `.on('SIGHUP', onSignal)`, replace: '' },
      {
        name: 'serve: the storage is not closed',
        find: 'store.close(), ',
        replace: '',
        tests: ['test/cli/commands/serve/postgres.test.ts'],
      },
      {
        name: 'serve: a token created at the first start is not used',
        find: 'if (first !== undefined) authenticate = useTokens();',
        replace: '',
        tests: ['test/cli/first-token.test.ts'],
      },
      {
        name: 'serve: malformed requests are not logged',
        find: 'log.rejection(error.code);',
        replace: '',
        tests: ['test/cli/commands/serve/log.test.ts'],
      },
    ],
  ),
  ...faultsIn(
    'src/cli/commands/token.ts',
    ['test/cli/commands/token.test.ts'],
    [
      { name: 'token command: a day has 8640 seconds', find: 'd: 86_400_000', replace: 'd: 8_640_000' },
      { name: 'token command: control characters in a list are not escaped', find: '.map(printable)', replace: '' },
      {
        name: 'token command: a token with one scope gets all scopes',
        find: '...(scopes && { scopes: [...new Set(scopes)] }),',
        replace: '',
      },
      {
        name: 'token command: revoking an unknown token succeeds',
        find: 'if (!revokeToken(path, id)) {',
        replace: "if (!revokeToken(path, id) && id === '') {",
      },
    ],
  ),
];
