/** Splits a text at white space. */
export function words(text: string): string[] {
  return text.trim().split(/[ \n]+/);
}

/** Splits a text at ` | ` and at line ends, so that the phrases may contain spaces. */
export function phrases(text: string): string[] {
  return text.trim().split(/ \| *|\n */);
}
