/** The maximum number of edits by which a suggested name may differ from the given text. */
const maxEdits = 3;

/**
 * Returns a sentence that suggests the name that is most similar to a mistyped text, or `otherwise` if no name is
 * similar. A name is similar if it begins with the text, or if it differs from the text in at most a third of the
 * characters. The comparison ignores the case of the text. `show` returns the form in which the name is suggested.
 */
export function suggestion(
  mistyped: string,
  names: readonly string[],
  otherwise = '',
  show = (name: string): string => name,
): string {
  const text = mistyped.toLowerCase();
  const most = Math.min(maxEdits, Math.max(1, Math.floor(text.length / 3)));
  for (let edits = 0; edits <= most; edits++) {
    for (const name of names) {
      const isBeginning = edits === 1 && text.length > 1 && name.startsWith(text);
      if (isBeginning || areWithin(edits, text, name)) return `Did you mean '${show(name)}'?`;
    }
  }
  return otherwise;
}

/**
 * Checks whether `from` can be turned into `to` by at most `edits` edits. An edit deletes, inserts or replaces a
 * character, or swaps two adjacent characters.
 */
function areWithin(edits: number, from: string, to: string): boolean {
  if (from === to) return true;
  if (edits === 0) return false;
  const [a, b] = [from.slice(1), to.slice(1)];
  if (from.charCodeAt(0) === to.charCodeAt(0)) return areWithin(edits, a, b);
  const isSwap = from.charCodeAt(0) === to.charCodeAt(1) && from.charCodeAt(1) === to.charCodeAt(0);
  return (
    areWithin(edits - 1, a, to) ||
    areWithin(edits - 1, from, b) ||
    areWithin(edits - 1, a, b) ||
    (isSwap && areWithin(edits - 1, a.slice(1), b.slice(1)))
  );
}
