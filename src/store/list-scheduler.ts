/** For each user, the lists that wait for their next page, in order of arrival. The first user is served next. */
const waiting = new Map<string, (() => void)[]>();

/**
 * Resolves when a long list of this user may read its next page. One page is read in each iteration of the event loop:
 * with one for every list, 200 lists of a million plants would make iterations of 150 ms. The turns go round the
 * users, and each user's turns round their lists, so that many lists of one user do not slow down those of others.
 */
export function pageTurn(user: string): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.size === 0) setImmediate(giveTurn);
    const lists = waiting.get(user);
    if (lists === undefined) waiting.set(user, [resolve]);
    else lists.push(resolve);
  });
}

function giveTurn(): void {
  for (const [user, lists] of waiting) {
    // Deleted and set again, the user is the last in the order of the map.
    waiting.delete(user);
    const resume = lists.shift();
    if (lists.length > 0) waiting.set(user, lists);
    resume?.();
    break;
  }
  if (waiting.size > 0) setImmediate(giveTurn);
}
