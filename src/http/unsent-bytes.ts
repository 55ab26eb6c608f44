import { UserTotals } from './user-totals.ts';

/** The share of `maxUnsentBytes` that one user may use. */
const userShare = 1 / 4;

/**
 * The time within which a client must read the data of one write (up to 64 KiB). A client must therefore read about 1
 * KiB per second.
 */
const maxPendingMs = 60_000;

/** The time without progress after which a connection may be closed to free memory. */
const minStalledMs = 1000;

/**
 * If the buffered bytes reach this multiple of a limit, connections are closed even if they have just made progress.
 */
const hardFactor = 2;

const checkIntervalMs = 1000;

/** A response that can be aborted, such as the `ServerResponse` of node:http. `destroy` also closes its connection. */
export interface Closable {
  destroy(): unknown;
}

/** The bytes of a response that the client has not read yet. */
interface Pending {
  readonly user: string;
  readonly bytes: number;
  readonly sinceMs: number;
}

/**
 * Counts the bytes that are buffered for slow clients, either in sockets or in a page of a list that is being sent in
 * pieces. This memory is freed only when the clients read. When the total reaches the maximum, or the bytes of one user
 * reach the user's share, new list requests are refused, and connections that have made no progress for a second are
 * closed, slowest first. A connection is always closed if its client reads less than 64 KiB per minute.
 */
export class UnsentBytes {
  readonly #max: number;
  readonly #totals = new UserTotals();
  /** The responses with unsent bytes, longest-waiting first. */
  readonly #pending = new Map<Closable, Pending>();
  #timer: NodeJS.Timeout | undefined;

  constructor(maxBytes: number) {
    this.#max = maxBytes;
  }

  /**
   * Returns whether a new list request from this user must be refused. If a limit has been reached, first closes slow
   * connections to make room.
   */
  isFull(user: string): boolean {
    if (!this.#isOver(user)) return false;
    this.#makeRoom(user);
    return this.#isOver(user);
  }

  /** Sets the number of unsent bytes of a response. */
  set(response: Closable, user: string, bytes: number): void {
    this.delete(response);
    this.#pending.set(response, { user, bytes, sinceMs: performance.now() });
    this.#totals.add(user, bytes);
    this.#timer ??= setInterval(() => {
      this.#closeLate();
    }, checkIntervalMs).unref();
    if (this.#isOver(user)) this.#makeRoom(user);
  }

  /** Removes a response whose bytes have been read or whose client has disconnected. */
  delete(response: Closable): void {
    const pending = this.#pending.get(response);
    if (pending === undefined) return;
    this.#pending.delete(response);
    this.#totals.add(pending.user, -pending.bytes);
    if (this.#pending.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /**
   * Returns whether the bytes of all users or the bytes of this user have reached their limit. Both limits are
   * multiplied by `factor`.
   */
  #isOver(user: string, factor = 1): boolean {
    const { all } = this.#totals;
    return all >= this.#max * factor || this.#totals.of(user) >= this.#max * userShare * factor;
  }

  /** Closes the slowest connections of a user, or those of all users if the total has reached the maximum. */
  #makeRoom(user: string): void {
    const latest = performance.now() - minStalledMs;
    for (const [response, pending] of this.#pending) {
      if (!this.#isOver(user) || (pending.sinceMs > latest && !this.#isOver(user, hardFactor))) return;
      if (pending.user === user || this.#totals.all >= this.#max) this.#close(response);
    }
  }

  #closeLate(): void {
    const latest = performance.now() - maxPendingMs;
    for (const [response, { sinceMs }] of this.#pending) {
      if (sinceMs > latest) return;
      this.#close(response);
    }
  }

  #close(response: Closable): void {
    this.delete(response);
    response.destroy();
  }
}
