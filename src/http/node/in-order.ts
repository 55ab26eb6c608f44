import type { RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** The last request of a connection. */
interface Exchange {
  response: ServerResponse;
  /** The turn of the event loop in which it was begun. */
  turn: number;
}

const lastExchanges = new WeakMap<Duplex, Exchange>();

/** For each response whose request was not begun yet, the one that it waits for. */
const waitsFor = new WeakMap<ServerResponse, ServerResponse>();

/**
 * Begins the requests of a connection one after another. node:http begins pipelined ones at once,
 * and a list behind a create would miss it (RFC 9112 §9.3.2). What stands behind an answer that
 * closes the connection is not begun at all (§9.6).
 *
 * In a turn of the event loop a connection gets one request. libuv goes on polling, up to 48 times,
 * while more than 1024 connections are ready, before anything else has its turn: 5000 clients that
 * were refused at once and asked again kept the commit of those that were not from happening for 6 s.
 *
 * While a request waits, its connection is not read. One read of 64 KiB can still hold a thousand
 * requests, at 3 KiB of memory each: at most `maxWaiting` wait on all connections, and one more
 * closes its connection.
 */
export function inOrder(listener: RequestListener, maxWaiting: number): RequestListener {
  const line = new WaitingLine();
  return (request, response) => {
    const { socket } = request;
    const last = lastExchanges.get(socket);
    const turn = currentTurn();
    if (last === undefined) {
      lastExchanges.set(socket, { response, turn });
      if (isOpen(socket)) listener(request, response);
      return;
    }
    const before = last.response;
    last.response = response;
    // Node.js sets `destroyed` together with `closed`, which the responses of Deno do not have.
    if (before.destroyed && last.turn !== turn) {
      last.turn = turn;
      if (isOpen(socket)) listener(request, response);
      return;
    }
    if (line.length >= maxWaiting && line.closeLongest(socket)) return;
    waitsFor.set(response, before);
    line.enter(socket);
    const begin = (): void => {
      line.leave(socket);
      last.turn = currentTurn();
      if (waitsFor.delete(response) && isOpen(socket)) listener(request, response);
    };
    if (before.destroyed) setImmediate(begin);
    else before.once('close', () => setImmediate(begin));
  };
}

let turns = 0;
let isCounting = false;

/** Tells the turns of the event loop apart. */
function currentTurn(): number {
  if (!isCounting) {
    isCounting = true;
    setImmediate(() => {
      isCounting = false;
      turns++;
    });
  }
  return turns;
}

/** The response to the last request that came on a connection, begun or not. */
export function lastResponse(socket: Duplex): ServerResponse | undefined {
  return lastExchanges.get(socket)?.response;
}

/** Tells the answers of a connection that there is room again. */
export function drainResponses(socket: Duplex): void {
  // Only the one that is on its way listens.
  for (let response = lastResponse(socket); response !== undefined; response = waitsFor.get(response)) response.emit('drain');
}

/**
 * Sees to it that a request that waits for its turn is never begun.
 *
 * @returns the response it waited for; `undefined` where it was begun already.
 */
export function giveUp(response: ServerResponse): ServerResponse | undefined {
  const before = waitsFor.get(response);
  waitsFor.delete(response);
  return before;
}

/** Whether an answer can still be sent. */
export function isOpen(socket: Socket): boolean {
  return !socket.writableEnded && !socket.destroyed;
}

/** Counts the requests that wait, and keeps their connections from being read. */
class WaitingLine {
  length = 0;
  readonly #waits = new Map<Socket, { count: number; readonly forget: () => void }>();

  enter(socket: Socket): void {
    this.length++;
    const wait = this.#waits.get(socket);
    if (wait === undefined) {
      // The responses of a connection that is gone do not close one after another.
      const forget = (): void => { this.#forget(socket); };
      this.#waits.set(socket, { count: 1, forget });
      socket.on('resume', pauseAgain).on('close', forget);
    } else {
      wait.count++;
    }
    socket.pause();
  }

  /**
   * Closes the connection with the most requests that wait, so that a client with many of them does not cost others
   * their connections.
   *
   * @returns whether it was the given one.
   */
  closeLongest(newest: Socket): boolean {
    let longest = newest;
    let most = this.#waits.get(newest)?.count ?? 0;
    for (const [socket, { count }] of this.#waits) if (count > most) [longest, most] = [socket, count];
    this.#forget(longest);
    longest.destroy();
    return longest === newest;
  }

  leave(socket: Socket): void {
    const wait = this.#waits.get(socket);
    if (wait === undefined) return;
    if (wait.count === 1) {
      this.#forget(socket);
      socket.off('resume', pauseAgain).off('close', wait.forget).resume();
    } else {
      wait.count--;
      this.length--;
    }
  }

  #forget(socket: Socket): void {
    this.length -= this.#waits.get(socket)?.count ?? 0;
    this.#waits.delete(socket);
  }
}

/** node:http resumes a connection to fill the buffer of a body that is still incomplete. */
function pauseAgain(this: Socket): void {
  // Paused before the resumption came to pass, it counts as paused, though it is read.
  if (this.isPaused()) this.emit('pause');
  else this.pause();
}
