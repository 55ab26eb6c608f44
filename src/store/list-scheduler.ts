/** Maps each user to the lists that wait for their next page, in order of arrival. The first user is served next. */
const waiting = new Map<string, (() => void)[]>();

/**
 * Resolves when a long list of this user may read its next page. Only one page is read per event loop iteration: with
 * one page per list, 200 lists of a million plants would make an iteration take 150 ms. Users are served round-robin,
 * and so are the lists of each user, so that one user with many lists does not slow down other users.
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
    // Deleting a user and setting it again moves the user to the end of the map.
    waiting.delete(user);
    const resume = lists.shift();
    if (lists.length > 0) waiting.set(user, lists);
    resume?.();
    break;
  }
  if (waiting.size > 0) setImmediate(giveTurn);
}
