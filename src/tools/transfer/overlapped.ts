import { setImmediate as nextTurn } from 'node:timers/promises';

/** Processes items in order, one at a time. Reads the next item while the current one is being processed. */
export async function forEachOverlapped<Item>(
  items: AsyncIterable<Item>,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.asyncIterator]();
  let next = await iterator.next();
  while (next.done !== true) {
    const processing = work(next.value);
    // The next item is read one event loop iteration later, so that `work` sends its request first. Reading may be
    // synchronous, and would then block the event loop before the request is sent.
    const reading = nextTurn().then(() => iterator.next());
    [next] = await Promise.all([reading, processing]);
  }
}
