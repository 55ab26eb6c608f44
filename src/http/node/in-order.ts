import type { RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Permits } from '../permits.ts';

/** A pipelined request that waits for the end of an earlier response. */
interface Waiting {
  readonly response: ServerResponse;
  begin: () => void;
}

/** The requests of a connection. */
interface Line {
  /** The response to the latest request that has begun; `undefined` if none has. */
  response: ServerResponse | undefined;
  /** The event loop iteration in which this request began. */
  turn: number;
  readonly waiting: Waiting[];
}

const lines = new WeakMap<Duplex, Line>();

/**
 * Returns a listener that handles the requests of a connection one after another. node:http dispatches pipelined
 * requests concurrently, so a list request that follows a create request would not return the new plant (RFC 9112
 * §9.3.2). If a response closes the connection, later requests on this connection are not handled (§9.6).
 *
 * In each event loop iteration, at most one request per connection begins. If more than 1024 connections are ready,
 * libuv polls up to 48 times before it runs other callbacks. Without the limit of one request, 5000 clients that
 * immediately retried refused requests delayed the commit of the accepted requests by 6 s.
 *
 * A connection is paused while one of its requests waits. But a single read of 64 KiB can contain a thousand requests,
 * each of which uses 3 KiB of memory. Therefore, at most `maxWaiting` requests may wait, and connections share this
 * number like permits. A connection that exceeds its share is closed.
 */
export function inOrder(listener: RequestListener, maxWaiting: number): RequestListener {
  const permits = new Permits<Socket>(maxWaiting);

  function wait(socket: Socket, line: Line, waiting: Waiting): void {
    if (!permits.take(socket)) {
      socket.destroy();
      return;
    }
    if (line.waiting.push(waiting) > 1) return;
    socket.pause().on('resume', pauseAgain);
    whenClosed(line.response, () => setImmediate(beginNext, socket, line));
  }

  function openLine(socket: Socket): Line {
    const line: Line = { response: undefined, turn: 0, waiting: [] };
    lines.set(socket, line);
    // After a disconnect, the responses to waiting requests do not emit 'close'.
    socket.once('close', () => {
      for (; line.waiting.length > 0; line.waiting.pop()) permits.release(socket);
    });
    return line;
  }

  function beginNext(socket: Socket, line: Line): void {
    const next = line.waiting.shift();
    // After a disconnect, no request is waiting.
    if (next === undefined) return;
    permits.release(socket);
    line.response = next.response;
    line.turn = currentTurn();
    if (line.waiting.length > 0) whenClosed(next.response, () => setImmediate(beginNext, socket, line));
    else socket.off('resume', pauseAgain).resume();
    if (isOpen(socket)) next.begin();
  }

  return (request, response) => {
    const { socket } = request;
    const line = lines.get(socket) ?? openLine(socket);
    const turn = currentTurn();
    // `closed` is not used, because responses in Deno do not have it. Node.js sets `destroyed` at the same time.
    const isIdle = line.response === undefined || (line.response.destroyed && line.turn !== turn);
    if (line.waiting.length > 0 || !isIdle) {
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
export function whenClosed(response: ServerResponse | undefined, work: () => void): void {
  if (response === undefined || response.destroyed) work();
  else response.once('close', work);
}

/** Returns the response to the latest request on a connection, even if that request is still waiting. */
export function lastResponse(socket: Duplex): ServerResponse | undefined {
  const line = lines.get(socket);
  return line?.waiting.at(-1)?.response ?? line?.response;
}

/**
 * If the latest request on a connection is still waiting, replaces the way it is handled.
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
