import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { FileIdentity } from './file.ts';

/** https://www.sqlite.org/fileformat2.html#the_write_ahead_log */
const headerBytes = 32;
/** A WAL begins with this number or the next one. */
const walMagic = 0x377f0682;
const frameHeaderBytes = 24;
/** The maximum number of new frames that are followed with reads. For more frames, one stat is faster. */
const maxFollowedFrames = 8;

/**
 * Follows the size of an open write-ahead log (WAL), to find out whether another program has truncated it.
 *
 * SQLite itself changes the WAL in three ways: a commit appends frames, a commit after a checkpoint restarts the WAL
 * with a new header, and some checkpoints truncate it to zero bytes. Every other change is a loss.
 */
export class WalFile {
  readonly identity: FileIdentity;
  /** Closing this descriptor releases no lock, because SQLite does not lock the WAL. */
  readonly #file: number;
  readonly #checkpoint: () => boolean;
  /** The size at the latest check. While the header stays the same, the WAL only grows. */
  #size = 0;
  readonly #header: Buffer = Buffer.alloc(headerBytes);
  readonly #newHeader: Buffer = Buffer.alloc(headerBytes);

  /** `checkpoint` returns whether the WAL contains pages according to SQLite. */
  constructor(path: string, checkpoint: () => boolean) {
    this.#file = openSync(path, 'r');
    this.#checkpoint = checkpoint;
    const { dev, ino } = fstatSync(this.#file, { bigint: true });
    this.identity = { dev, ino };
  }

  /** Whether the WAL is shorter than at the latest check. */
  isShorter(): boolean {
    return this.#size > 0 && readSync(this.#file, this.#newHeader, 0, 1, this.#size - 1) === 0;
  }

  /**
   * Adds the frames that were appended to `#size`. Returns `false` if the header has changed, or if there are too many
   * new frames. Uses reads, because on Linux 6.13 and later, the stat of a file makes the next write to it slower: a
   * commit of one plant would use 30% more CPU time.
   */
  followGrowth(): boolean {
    this.#readHeader(this.#newHeader);
    if (this.#size === 0 || !this.#newHeader.equals(this.#header)) return false;
    const frameBytes = frameHeaderBytes + this.#header.readUInt32BE(8);
    for (let frames = 0; frames < maxFollowedFrames; frames++) {
      if (readSync(this.#file, this.#newHeader, 0, 1, this.#size + frameBytes - 1) === 0) return true;
      this.#size += frameBytes;
    }
    return false;
  }

  /** Returns whether only SQLite has changed the WAL, which now has this size. */
  acceptSize(size: number): boolean {
    this.#readHeader(this.#newHeader);
    if (this.#size === 0 || size < this.#size || !this.#newHeader.equals(this.#header)) return this.#acceptRestart();
    this.#size = size;
    return true;
  }

  close(): void {
    closeSync(this.#file);
  }

  #acceptRestart(): boolean {
    const header = Buffer.alloc(headerBytes);
    let size: number;
    do {
      this.#readHeader(header);
      size = fstatSync(this.#file).size;
      this.#readHeader(this.#newHeader);
    } while (!this.#newHeader.equals(header));

    if (size === 0) {
      // If SQLite counts pages in a WAL that is still empty, another program has truncated it. If the WAL is no longer
      // empty, another process has committed in the meantime.
      if (this.#size > 0 && this.#checkpoint() && fstatSync(this.#file).size === 0) return false;
    } else {
      const hasMagic = header.readUInt32BE() >>> 1 === walMagic >>> 1;
      if (!hasMagic || (size < this.#size && header.equals(this.#header))) return false;
    }
    this.#size = size;
    header.copy(this.#header);
    return true;
  }

  #readHeader(header: Buffer): void {
    if (readSync(this.#file, header, 0, headerBytes, 0) < headerBytes) header.fill(0);
  }
}
