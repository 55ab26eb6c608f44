/**
 * The maximum length of a piece in UTF-16 code units. Lists are sent in pieces, because data that a client has not read
 * stays in memory outside the heap. In ASCII, this length is 64 KiB, the high-water mark of a socket.
 */
export const maxPieceLength = 65_536;

/** Returns the piece of a string that starts at index `at`. A piece never ends in the middle of a surrogate pair. */
export function pieceAt(text: string, at: number): string {
  const end = at + maxPieceLength;
  const last = end < text.length ? text.charCodeAt(end - 1) : 0;
  const isHighSurrogate = last >= 0xd800 && last <= 0xdbff;
  return at === 0 && end >= text.length ? text : text.slice(at, isHighSurrogate ? end - 1 : end);
}
