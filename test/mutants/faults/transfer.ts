import { faultsIn } from '../fault.ts';
import type { Fault } from '../fault.ts';

const copy = 'test/cli/commands/copy.test.ts';

/** `src/transfer`: copying plants from one adapter to another. */
export const transferFaults: readonly Fault[] = [
  ...faultsIn(
    'src/transfer/add-plants.ts',
    ['test/cli/commands/import.test.ts'],
    [
      {
        name: 'add plants: existing plants are deleted first',
        find: 'const outcomes = await storage',
        replace:
          `await storage.commit(pending.map(({ user, plant: { id } }) => ({ kind: 'delete', ` +
          'user, id })));\n' +
          '    const outcomes = await storage',
      },
      {
        name: 'add plants: a different tag is not a conflict',
        find: ' && a.tag === b.tag',
        replace: '',
        tests: [copy],
      },
      {
        name: 'add plants: a conflict is counted as present',
        find: 'else tally.conflict({ ...owned, existing });',
        replace: 'else tally.present++;',
      },
      {
        name: 'add plants: plants that were not added are counted as added',
        find: 'pending.length - notAdded.length',
        replace: 'pending.length',
      },
    ],
  ),
  ...faultsIn(
    'src/transfer/copy-plants.ts',
    ['test/transfer/copy-plants.test.ts'],
    [
      {
        name: 'copy plants: unknown options are accepted',
        find: `checkOptionNames('copyPlants', options, optionNames);`,
        replace: '',
      },
      { name: 'copy plants: onConflict is not called', find: 'this.#onConflict?.(conflict);', replace: '' },
      {
        name: 'copy plants: onProgress is not called',
        find: 'onProgress?.(tally.counts);',
        replace: 'if (tally.added < 0) onProgress?.(tally.counts);',
      },
      {
        name: 'copy plants: a storage may be copied to itself',
        find: 'if (from === to) throw',
        replace: 'if (from === to && from === undefined) throw',
      },
    ],
  ),
  ...faultsIn(
    'src/transfer/overlapped.ts',
    ['test/transfer/overlapped.test.ts'],
    [
      {
        name: 'overlapped: the work on the last item is not awaited',
        find: '[next] = await Promise.all([reading, processing]);',
        replace: 'void processing.catch(() => undefined);\n    next = await reading;',
      },
    ],
  ),
  ...faultsIn(
    'src/transfer/plant-finder.ts',
    [copy],
    [
      {
        name: 'plant finder: the search starts after the plant',
        find: 'after: { user, id: id - 1n }',
        replace: 'after: { user, id }',
      },
      {
        name: 'plant finder: the minimum id is not found',
        find: 'if (id === minInt64) {',
        replace: 'if (id < minInt64) {',
      },
    ],
  ),
];
