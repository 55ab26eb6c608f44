import type { RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** The state of a connection. `response` is the response to its latest request. */
interface Exchange {
  response: ServerResponse;
  /** The event loop iteration in which a request from this connection was last passed to the listener. */
  turn: number;
}

const lastExchanges = new WeakMap<Duplex, Exchange>();

/** The keys are the responses to waiting requests. The value is the earlier response that must be sent first. */
const waitsFor = new WeakMap<ServerResponse, ServerResponse>();

/**
 * Returns a listener that handles the requests of a connection one after another. node:http dispatches pipelined
 * requests concurrently, so a list request that follows a create request would not return the new plant (RFC 9112
 * §9.3.2). If a response closes the connection, later requests on this connection are not handled (§9.6).
 *
 * In each event loop iteration, at most one request per connection is passed to the listener. If more than 1024
 * connections are ready, libuv polls up to 48 times before it runs other callbacks. Without the limit of one request,
 * 5000 clients that immediately retried refused requests delayed the commit of the accepted requests by 6 s.
 *
 * A connection is paused while one of its requests waits. But a single read of 64 KiB can contain a thousand requests,
 * each of which uses 3 KiB of memory. Therefore, at most `maxWaiting` requests may wait in total. If this limit is
 * exceeded, the connection with the most waiting requests is closed.
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
    // `closed` is not used, because responses in Deno do not have it. Node.js sets `destroyed` at the same time.
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

/** Returns a number that identifies the current event loop iteration. */
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

/** Returns the response to the latest request on a connection, even if that request is still waiting. */
export function lastResponse(socket: Duplex): ServerResponse | undefined {
  return lastExchanges.get(socket)?.response;
}

/** Emits 'drain' on the pending responses of a connection. */
export function drainResponses(socket: Duplex): void {
  // Only the response that is being sent has a listener for this event.
  for (let response = lastResponse(socket); response !== undefined; response = waitsFor.get(response)) {
    response.emit('drain');
  }
}

/**
 * Cancels a waiting request, so that it is never passed to the listener.
 *
 * @returns the response that the request waited for; `undefined` if the request has already been passed to the
 *   listener.
 */
export function cancelWaiting(response: ServerResponse): ServerResponse | undefined {
  const before = waitsFor.get(response);
  waitsFor.delete(response);
  return before;
}

/** Returns whether a response can still be sent on a connection. */
export function isOpen(socket: Socket): boolean {
  return !socket.writableEnded && !socket.destroyed;
}

/** Counts the waiting requests and keeps their connections paused. */
class WaitingLine {
  length = 0;
  readonly #waits = new Map<Socket, { count: number; readonly forget: () => void }>();

  enter(socket: Socket): void {
    this.length++;
    const wait = this.#waits.get(socket);
    if (wait === undefined) {
      // After a disconnect, the responses to waiting requests do not emit 'close', so `leave` is not called.
      const forget = (): void => {
        this.#forget(socket);
      };
      this.#waits.set(socket, { count: 1, forget });
      socket.on('resume', pauseAgain).on('close', forget);
    } else {
      wait.count++;
    }
    socket.pause();
  }

  /**
   * Closes the connection with the most waiting requests. Clients with fewer waiting requests keep their connections.
   *
   * @returns whether the closed connection is `newest`.
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

/** Pauses a connection again after node:http has resumed it to read more of an incomplete body. */
function pauseAgain(this: Socket): void {
  // If pause() was called before 'resume' was emitted, isPaused() returns `true`, but node:http still reads from the
  // socket.
  if (this.isPaused()) this.emit('pause');
  else this.pause();
}
