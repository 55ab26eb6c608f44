/** Who waits for a page, in order of arrival; the first `next` of them have had their turn. */
let waiting: (() => void)[] = [];
let next = 0;

/**
 * Resolves when a list may read its next page: of all the long lists of this process, one in each
 * turn of the event loop. Were each of them to read one in every turn, 200 of a million plants
 * would make turns of 150 ms, and nobody else would get an answer in time.
 */
export function pageTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (next === waiting.length) setImmediate(giveTurn);
    waiting.push(resolve);
  });
}

function giveTurn(): void {
  waiting[next++]?.();
  if (next < waiting.length) {
    setImmediate(giveTurn);
    // What was given a turn is cut off now and then, since to shift a long array costs its length.
    if (next < 1000) return;
  }
  waiting = waiting.slice(next);
  next = 0;
}
