import { setImmediate as nextTurn } from 'node:timers/promises';

/** Works on each item in order, one at a time, while the next item is being made. */
export async function forEachOverlapped<Item>(items: AsyncIterable<Item>, work: (item: Item) => Promise<void>): Promise<void> {
  const iterator = items[Symbol.asyncIterator]();
  let next = await iterator.next();
  while (next.done !== true) {
    const working = work(next.value);
    // A turn later, so that what the work sends to another process is under way before this one is busy.
    const making = nextTurn().then(() => iterator.next());
    [next] = await Promise.all([making, working]);
  }
}
