/**
 * The list requests that are waiting to read their next page, grouped by user and in order of arrival. The first user
 * is served next.
 */
const waiting = new Map<string, (() => void)[]>();

/**
 * Resolves when a list request from this user may read its next page. Only one such page is read per event loop
 * iteration. If every request read a page in every iteration, 200 requests for lists of a million plants would make an
 * iteration take 150 ms.
 *
 * Users are served round-robin, and so are the requests of each user. A user with many list requests therefore does not
 * slow down other users.
 */
export function pageTurn(user: string): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.size === 0) setImmediate(giveTurn);
    const requests = waiting.get(user);
    if (requests === undefined) waiting.set(user, [resolve]);
    else requests.push(resolve);
  });
}

function giveTurn(): void {
  for (const [user, requests] of waiting) {
    // Deleting a user and adding it again moves the user to the end of the map.
    waiting.delete(user);
    const resume = requests.shift();
    if (requests.length > 0) waiting.set(user, requests);
    resume?.();
    break;
  }
  if (waiting.size > 0) setImmediate(giveTurn);
}
