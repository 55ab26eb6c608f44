/**
 * How many UTF-16 code units of a list are sent at once: 64 KiB of ASCII, a socket's high-water mark. Data that the
 * client does not read stays in memory outside the heap.
 */
export const maxPieceLength = 65_536;

/** Returns the piece of a string that starts at `at`. It never ends between the two surrogates of a character. */
export function pieceAt(text: string, at: number): string {
  const end = at + maxPieceLength;
  const last = end < text.length ? text.charCodeAt(end - 1) : 0;
  const isHighSurrogate = last >= 0xd800 && last <= 0xdbff;
  return at === 0 && end >= text.length ? text : text.slice(at, isHighSurrogate ? end - 1 : end);
}
