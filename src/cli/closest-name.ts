/** The maximum number of characters in which a suggested name may differ from the given text. */
const maxDistance = 3;

/**
 * Returns the name that is most similar to a mistyped text, or `undefined` if no name is similar. A name is similar if
 * it begins with the text, or if it differs from the text in at most a third of the characters. The comparison ignores
 * the case of the text.
 */
export function closestName(given: string, names: Iterable<string>): string | undefined {
  const text = given.toLowerCase();
  let closest: string | undefined;
  let least = Math.min(maxDistance, Math.max(1, Math.floor(text.length / 3))) + 1;
  for (const name of names) {
    const distance = text.length > 1 && name.startsWith(text) ? 1 : editDistance(text, name);
    if (distance < least) [closest, least] = [name, distance];
  }
  return closest;
}

/**
 * Returns a sentence that suggests the most similar name, to append to a message about a mistyped text. Returns an
 * empty string if no name is similar.
 */
export function suggestion(text: string, names: Iterable<string>): string {
  const closest = closestName(text, names);
  return closest === undefined ? '' : ` Did you mean '${closest}'?`;
}

/**
 * Returns the optimal string alignment distance: the minimum number of insertions, deletions, replacements and
 * transpositions of adjacent characters that turn one string into the other.
 */
function editDistance(from: string, to: string): number {
  let [beforeLast, last] = [[] as number[], Array.from({ length: to.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwap = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current[column] = Math.min(
        (current[column - 1] ?? 0) + 1,
        (last[column] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
        isSwap ? (beforeLast[column - 2] ?? 0) + 1 : Infinity,
      );
    }
    [beforeLast, last] = [last, current];
  }
  return last[to.length] ?? 0;
}
