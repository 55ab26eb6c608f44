import { faultsIn } from '../../fault.ts';
import type { Fault } from '../../fault.ts';

/** `src/storage/memory`: the adapter that keeps plants in memory. */
export const memoryFaults: readonly Fault[] = [
  ...faultsIn(
    'src/storage/memory/memory-storage.ts',
    ['test/storage/memory/memory-storage.test.ts'],
    [
      { name: 'memory: a created plant is not copied', find: 'plant: { ...write.plant } } : ', replace: '} : ' },
      {
        name: 'memory: a write is copied only when it is applied',
        find:
          `writes.map(copyOf).map((write) => (write.kind === 'create' ? this.#create(write) ` +
          ': this.#delete(write)))',
        replace: `writes.map((each) => {
      const write = copyOf(each);
      return write.kind === 'create' ? this.#create(write) : this.#delete(write);
    })`,
      },
      { name: 'memory: lists return the stored objects', find: '.map((plant) => ({ ...plant }))', replace: '' },
      {
        name: 'memory: a scan omits the rest of the user in after',
        find: 'compareUsers(user, after.user) < 0',
        replace: 'compareUsers(user, after.user) <= 0',
      },
      {
        name: 'memory: a scan omits users added after the first scan',
        find: `this.#plantsByUser.set(user, plants);\n      this.#sortedUsers = undefined;`,
        replace: 'this.#plantsByUser.set(user, plants);',
      },
      { name: 'memory: operations succeed after close', find: 'this.#isClosed = true;', replace: '' },
    ],
  ),
  ...faultsIn(
    'src/storage/memory/sorted-plants.ts',
    ['test/storage/memory/sorted-plants.test.ts'],
    [
      {
        name: 'sorted plants: a slice includes the plant at after',
        find: 'minInt64 : after + 1n',
        replace: 'minInt64 : after',
      },
      {
        name: 'sorted plants: the first plant of a chunk is not found',
        find: 'first <= id',
        replace: 'first < id',
      },
      {
        name: 'sorted plants: empty chunks are not removed',
        find: 'if (chunk.length === 0) this.#chunks.splice(chunkIndex, 1);',
        replace: '',
      },
      {
        name: 'sorted plants: a slice is longer than its limit',
        find: 'limit - found.length',
        replace: 'limit',
      },
    ],
  ),
  ...faultsIn(
    'src/storage/memory/plant-chunk.ts',
    ['test/storage/memory/sorted-plants.test.ts'],
    [
      {
        name: 'plant chunk: the array of ids does not grow',
        find: 'if (length > this.#ids.length) {',
        replace: 'if (length > 2 * this.#ids.length) {',
      },
      {
        name: 'plant chunk: the last id is lost when an id is inserted',
        find: 'this.#ids.copyWithin(index + 1, index, length - 1);',
        replace: 'this.#ids.copyWithin(index + 1, index, length - 2);',
      },
      {
        name: 'plant chunk: the id of a removed plant remains',
        find: 'this.#ids?.copyWithin(index, index + 1, this.length);',
        replace: '',
      },
      {
        name: 'plant chunk: a split does not move the ids',
        find: 'this.#ids?.slice(middle, length)',
        replace: 'this.#ids?.slice(0, length)',
      },
    ],
  ),
];
