/**
 * The length from which a token is found anywhere in a text. A shorter token, such as `a`, is only found as a whole
 * word, because it may be a part of other words.
 */
const minLongToken = 16;

/** What may precede a whole word: no letter or digit, unless it ends a percent-encoded or JSON-escaped character. */
const wordStart = '(?<=^|[^A-Za-z0-9]|%[0-9A-Fa-f]{2}|\\\\(?:[bfnrt]|u[0-9A-Fa-f]{4}))';
const wordEnd = '(?![A-Za-z0-9])';

/**
 * Returns the source of a regular expression that finds a bearer token in a text. The expression also matches the token
 * if its punctuation is percent-encoded, or escaped as in JSON.
 */
export function tokenPattern(token: string): string {
  const pattern = token.replaceAll(/[^A-Za-z0-9]/g, (character) => {
    const hex = character.charCodeAt(0).toString(16);
    return `(?:\\\\?\\${character}|(?:%|\\\\u00)(?:${hex}|${hex.toUpperCase()}))`;
  });
  return token.length < minLongToken ? `${wordStart}${pattern}${wordEnd}` : pattern;
}

/** Checks whether a text contains a bearer token. */
export function containsToken(text: string, token: string): boolean {
  return new RegExp(tokenPattern(token)).test(text);
}
