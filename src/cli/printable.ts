/** No name may forge a line or reach the terminal as a command: control characters as `\uXXXX`. */
export function printable(text: string): string {
  return text.replace(/\p{Cc}/gu, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
