/** A token that is shorter than this is found only as a whole word, because it may be part of other words. */
const minLongToken = 16;

/**
 * Matches the start of a whole word. The character before it must not be a letter or digit, unless that character ends
 * a percent-encoded or JSON-escaped character.
 */
const wordStart = '(?<=^|[^A-Za-z0-9]|%[0-9A-Fa-f]{2}|\\\\(?:[bfnrt]|u[0-9A-Fa-f]{4}))';
const wordEnd = '(?![A-Za-z0-9])';

/**
 * Returns the source of a regular expression that finds a bearer token in a text. The expression also matches the token
 * if its punctuation is percent-encoded, or escaped as in JSON.
 */
function tokenPattern(token: string): string {
  const pattern = token.replaceAll(/[^A-Za-z0-9]/g, (character) => {
    const hex = character.charCodeAt(0).toString(16);
    return `(?:\\\\?\\${character}|(?:%|\\\\u00)(?:${hex}|${hex.toUpperCase()}))`;
  });
  return token.length < minLongToken ? `${wordStart}${pattern}${wordEnd}` : pattern;
}

export function containsToken(text: string, token: string): boolean {
  return new RegExp(tokenPattern(token)).test(text);
}

/** Returns a function that replaces these bearer tokens in a text, by default with `$` and the name of the token. */
export function redactor(
  tokens: Readonly<Record<string, string | undefined>>,
): (text: string, replacement?: (name: string) => string) => string {
  const entries = Object.entries(tokens).filter((entry): entry is [string, string] => entry[1] !== undefined);
  // Longer tokens come first in the pattern, because a shorter token may be the beginning of a longer token.
  const sorted = entries.toSorted(([, one], [, other]) => other.length - one.length);
  const pattern = new RegExp(sorted.map(([name, token]) => `(?<${name}>${tokenPattern(token)})`).join('|'), 'g');
  return (text, replacement = (name) => `$${name}`) =>
    text.replaceAll(pattern, (...match) => {
      const groups = match.at(-1) as Readonly<Record<string, string | undefined>>;
      return replacement(sorted.find(([name]) => groups[name] !== undefined)?.[0] ?? '');
    });
}
