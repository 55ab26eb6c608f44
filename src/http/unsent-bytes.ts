import { UserTotals } from './user-totals.ts';

/** How much of the maximum one user may take up. */
const userShare = 1 / 4;

/** How long a client may take for what was handed to its socket at once, up to 64 KiB: about 1 KiB a second. */
const maxPendingMs = 60_000;

/** A connection that has taken nothing for so long can be closed to make room for others. */
const minStalledMs = 1000;

/** At so many times the maximum, connections are closed even if they are not stalled. */
const hardFactor = 2;

const checkIntervalMs = 1000;

/** What a front sends an answer by; destroying it closes its connection. */
export interface Closable {
  destroy(): unknown;
}

/** Bytes that a client has not taken yet. */
interface Pending {
  readonly user: string;
  readonly bytes: number;
  readonly sinceMs: number;
}

/**
 * Counts the bytes that are ready for clients which do not take them: in sockets, or in a page of a list that is sent
 * piece by piece. Only the clients can free this memory. Past the maximum, and past a user's share of it, new lists are
 * refused, and connections that have taken nothing for a second are closed, the slowest first. So are connections that
 * take less than 64 KiB a minute.
 */
export class UnsentBytes {
  readonly #max: number;
  readonly #totals = new UserTotals();
  /** In the order in which they began to wait for their clients. */
  readonly #pending = new Map<Closable, Pending>();
  #timer: NodeJS.Timeout | undefined;

  constructor(maxBytes: number) {
    this.#max = maxBytes;
  }

  /** Whether a new list of this user has to be refused. */
  isFull(user: string): boolean {
    if (!this.#isOver(user)) return false;
    this.#makeRoom(user);
    return this.#isOver(user);
  }

  /** Counts bytes for a response, instead of those that were counted for it before. */
  set(response: Closable, user: string, bytes: number): void {
    this.delete(response);
    this.#pending.set(response, { user, bytes, sinceMs: performance.now() });
    this.#totals.add(user, bytes);
    this.#timer ??= setInterval(() => { this.#closeLate(); }, checkIntervalMs).unref();
    if (this.#isOver(user)) this.#makeRoom(user);
  }

  /** Forgets a response whose bytes were taken, or whose client has gone. */
  delete(response: Closable): void {
    const pending = this.#pending.get(response);
    if (pending === undefined) return;
    this.#pending.delete(response);
    this.#totals.add(pending.user, -pending.bytes);
    if (this.#pending.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Whether the maximum of all users is reached, or the share of this one. `factor` multiplies both. */
  #isOver(user: string, factor = 1): boolean {
    const { all } = this.#totals;
    return all >= this.#max * factor || this.#totals.of(user) >= this.#max * userShare * factor;
  }

  /** Closes the slowest connections of a user, or of all if the maximum of all is reached. */
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
