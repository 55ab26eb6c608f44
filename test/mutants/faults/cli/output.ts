import { faultsIn } from '../../fault.ts';
import type { Fault } from '../../fault.ts';

const logSecrets = 'test/cli/commands/serve/log-secrets.test.ts';

/** `src/cli/output`: the log and what commands print. */
export const outputFaults: readonly Fault[] = [
  ...faultsIn(
    'src/cli/output/style.ts',
    ['test/cli/output/style.test.ts'],
    [
      {
        name: 'style: NO_COLOR and pipes are ignored',
        find: '{ stream }',
        replace: '{ stream, validateStream: false }',
      },
    ],
  ),
  ...faultsIn(
    'src/cli/output/log.ts',
    ['test/cli/output/log.test.ts', 'test/cli/commands/serve/log.test.ts'],
    [
      {
        name: 'log: unknown methods are logged',
        find: `knownMethods.has(method) ? method : 'other'`,
        replace: 'method',
        tests: [logSecrets],
      },
      {
        name: 'log: an incomplete response is logged as complete',
        find: `end: isComplete ? undefined : 'incomplete'`,
        replace: 'end: undefined',
      },
      {
        name: 'log: the id of a failed request is not logged',
        find: 'message, requestId, error:',
        replace: 'message, error:',
      },
      {
        name: 'log: control characters of a user are not escaped',
        find: 'printable(String(user))',
        replace: 'String(user)',
      },
      {
        name: 'log: error texts are not logged',
        find: 'error: error === undefined ? undefined : errorText(error)',
        replace: 'error: undefined',
      },
      { name: 'log: repeated errors are not counted', find: 'this.#repeats.set(key, repeats + 1);', replace: '' },
      {
        name: 'log: repeated errors are all logged',
        find: 'if (repeats !== undefined) {',
        replace: 'if (repeats !== undefined && repeats > 1e9) {',
      },
      {
        name: 'log: errors with different causes count as repeats',
        find: 'error === undefined ? message : `${message}: ${errorSummary(error)}`',
        replace: 'message',
      },
      { name: 'log: an error is logged only once', find: 'this.#repeats.clear();', replace: '' },
      {
        name: 'log: flush does not report pending repeats',
        find: 'flush(): void {\n    this.#reportRepeats();',
        replace: 'flush(): void {',
      },
      {
        name: 'log: flush does not write pending lines',
        find: 'process.stderr.write(this.#lines);',
        replace: 'if (this.#lines.length > 1000) process.stderr.write(this.#lines);',
      },
    ],
  ),
  ...faultsIn(
    'src/cli/output/printable.ts',
    ['test/cli/output/printable.test.ts'],
    [
      { name: 'printable: format characters are not escaped', find: '\\p{Cf}', replace: '' },
      {
        name: 'printable: only half of a surrogate pair is escaped',
        find: `.split('').map(escaped).join('')`,
        replace: `.slice(0, 1).split('').map(escaped).join('')`,
      },
    ],
  ),
  ...faultsIn(
    'src/cli/output/tally.ts',
    ['test/cli/commands/import.test.ts'],
    [
      {
        name: 'tally: invalid lines do not count',
        find: 'this.#conflicts === 0 && this.#badLines === 0',
        replace: 'this.#conflicts === 0',
      },
      {
        name: 'tally: user names are printed without escapes',
        find: 'printable(JSON.stringify(text))',
        replace: 'text',
        tests: ['test/cli/commands/copy.test.ts'],
      },
      {
        name: 'tally: control characters in user names are printed',
        find: 'printable(JSON.stringify(text))',
        replace: 'JSON.stringify(text)',
        tests: ['test/cli/output/tally.test.ts'],
      },
    ],
  ),
];
