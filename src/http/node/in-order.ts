import type { RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Permits } from '../permits.ts';

/** A pipelined request that waits until the responses to earlier requests have been sent. */
interface Waiting {
  readonly response: ServerResponse;
  begin: () => void;
}

/** The requests of a connection. */
interface Line {
  /** The response to the request that began last; `undefined` if no request has begun. */
  response: ServerResponse | undefined;
  /** The event loop iteration in which that request began; -1 if no request has begun. */
  turn: number;
  readonly waiting: Waiting[];
}

const lines = new WeakMap<Duplex, Line>();

/**
 * Returns a listener that handles the requests of a connection one after another. node:http dispatches pipelined
 * requests concurrently, so a list request that follows a create request might not return the new plant (RFC 9112
 * §9.3.2). If a response closes the connection, later requests on this connection are not handled (§9.6).
 *
 * A request begins when node:http assigns the socket to its response. node:http does this in the order in which the
 * requests arrived. If the application awaits something before it calls the listener, the order of the calls can differ
 * from this order.
 *
 * In each event loop iteration, at most one request per connection begins. If more than 1024 connections are ready,
 * libuv polls up to 48 times before it runs other callbacks. In a measurement without this limit, accepted writes were
 * committed 6 s late, because 5000 clients immediately retried their refused requests.
 *
 * A connection is paused while one of its requests waits. However, a single read of 64 KiB can contain a thousand
 * requests, each of which uses 3 KiB of memory. Therefore, each waiting request needs one of `maxWaiting` permits. A
 * connection that exceeds its share of the permits is closed.
 */
export function inOrder(listener: RequestListener, maxWaiting: number): RequestListener {
  const permits = new Permits<Socket>(maxWaiting);

  function wait(socket: Socket, line: Line, waiting: Waiting): void {
    if (!permits.take(socket)) {
      socket.destroy();
      return;
    }
    if (line.waiting.push(waiting) === 1) socket.pause().on('resume', pauseAgain);
    const { response } = waiting;
    const beginSoon = (): void => void setImmediate(beginWaiting, socket, line, waiting);
    if (isNext(response)) beginSoon();
    else response.once('socket', beginSoon);
  }

  function openLine(socket: Socket): Line {
    const line: Line = { response: undefined, turn: -1, waiting: [] };
    lines.set(socket, line);
    // After a disconnect, the responses to waiting requests do not emit 'close'.
    socket.once('close', () => {
      for (; line.waiting.length > 0; line.waiting.pop()) permits.release(socket);
    });
    return line;
  }

  function beginWaiting(socket: Socket, line: Line, waiting: Waiting): void {
    const place = line.waiting.indexOf(waiting);
    // After a disconnect, no request is waiting.
    if (place < 0) return;
    line.waiting.splice(place, 1);
    permits.release(socket);
    line.response = waiting.response;
    line.turn = currentTurn();
    if (line.waiting.length === 0) socket.off('resume', pauseAgain).resume();
    if (isOpen(socket)) waiting.begin();
  }

  return (request, response) => {
    const { socket } = request;
    const line = lines.get(socket) ?? openLine(socket);
    const turn = currentTurn();
    if (line.turn === turn || !isNext(response)) {
      const begin = (): void => {
        listener(request, response);
      };
      wait(socket, line, { response, begin });
      return;
    }
    line.response = response;
    line.turn = turn;
    if (isOpen(socket)) listener(request, response);
  };
}

/** Returns whether all earlier responses on the connection have been sent. */
function isNext(response: ServerResponse): boolean {
  return response.socket !== null;
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

/** Calls `work` when a response has been sent or its client has disconnected. */
export function whenClosed(response: ServerResponse, work: () => void): void {
  // A response that is already destroyed does not emit 'close'.
  if (response.destroyed) work();
  // 'close' is emitted only once, so `on` has the same effect as `once` and costs less per request.
  else response.on('close', work);
}

/** Returns the response to the latest request on a connection, even if that request is still waiting. */
export function lastResponse(socket: Duplex): ServerResponse | undefined {
  const line = lines.get(socket);
  return line?.waiting.at(-1)?.response ?? line?.response;
}

/**
 * If the latest request on a connection is still waiting, replaces the function that handles the request.
 *
 * @returns whether the request was waiting.
 */
export function replaceWaiting(socket: Duplex, begin: () => void): boolean {
  const waiting = lines.get(socket)?.waiting.at(-1);
  if (waiting !== undefined) waiting.begin = begin;
  return waiting !== undefined;
}

/** Returns whether a response can still be sent on a connection. */
export function isOpen(socket: Socket): boolean {
  return !socket.writableEnded && !socket.destroyed;
}

/** Pauses a connection again after node:http has resumed it to read more of an incomplete body. */
function pauseAgain(this: Socket): void {
  // If pause() was called before 'resume' was emitted, isPaused() returns `true`, but node:http still reads from the
  // socket.
  if (this.isPaused()) this.emit('pause');
  else this.pause();
}
