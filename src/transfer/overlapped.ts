import { setImmediate as nextTurn } from 'node:timers/promises';

/** Processes the items in order, one at a time, while the next item is being read. */
export async function forEachOverlapped<Item>(
  items: AsyncIterable<Item>,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.asyncIterator]();
  let next = await iterator.next();
  while (next.done !== true) {
    const working = work(next.value);
    // Reads one event loop iteration later, so that `work` can send its request before reading blocks the event loop.
    const making = nextTurn().then(() => iterator.next());
    [next] = await Promise.all([making, working]);
  }
}
