/**
 * The maximum length of a piece of a response body, in UTF-16 code units. Lists are sent in pieces to limit memory use,
 * because data that a client has not read stays in memory outside the heap. A piece that consists of ASCII characters
 * uses at most 64 KiB, which is the high-water mark of a socket.
 */
export const maxPieceLength = 65_536;

/** Returns the piece of a string that starts at index `at`. A piece never ends in the middle of a surrogate pair. */
export function pieceAt(text: string, at: number): string {
  const end = at + maxPieceLength;
  const last = end < text.length ? text.charCodeAt(end - 1) : 0;
  const isHighSurrogate = last >= 0xd800 && last <= 0xdbff;
  return at === 0 && end >= text.length ? text : text.slice(at, isHighSurrogate ? end - 1 : end);
}
