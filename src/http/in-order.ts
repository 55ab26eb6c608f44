import type { RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** The response to the last request of each connection. */
const lastResponses = new WeakMap<Duplex, ServerResponse>();

/** For each response whose request was not begun yet, the one that it waits for. */
const waitsFor = new WeakMap<ServerResponse, ServerResponse>();

/** How many requests of a connection wait. */
const waitingCounts = new WeakMap<Socket, number>();

/**
 * Begins the requests of a connection one after another. node:http begins pipelined ones at once,
 * and a list behind a create would miss it (RFC 9112 §9.3.2). What stands behind an answer that
 * closes the connection is not begun at all (§9.6).
 *
 * While a request waits the connection is not read, so that no more than one read of 64 KiB is ever
 * kept of what a client sends ahead.
 */
export function inOrder(listener: RequestListener): RequestListener {
  return (request, response) => {
    const { socket } = request;
    const before = lastResponses.get(socket);
    lastResponses.set(socket, response);
    if (before === undefined || before.closed) {
      if (isOpen(socket)) listener(request, response);
      return;
    }
    waitsFor.set(response, before);
    holdReading(socket);
    before.once('close', () => {
      releaseReading(socket);
      if (waitsFor.delete(response) && isOpen(socket)) listener(request, response);
    });
  };
}

/** The response to the last request that came on a connection, begun or not. */
export function lastResponse(socket: Duplex): ServerResponse | undefined {
  return lastResponses.get(socket);
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

function holdReading(socket: Socket): void {
  const count = waitingCounts.get(socket) ?? 0;
  waitingCounts.set(socket, count + 1);
  if (count === 0) socket.on('resume', pauseAgain);
  socket.pause();
}

function releaseReading(socket: Socket): void {
  const count = (waitingCounts.get(socket) ?? 1) - 1;
  waitingCounts.set(socket, count);
  if (count === 0) socket.off('resume', pauseAgain).resume();
}

/** node:http resumes a connection to fill the buffer of a body that is still incomplete. */
function pauseAgain(this: Socket): void {
  // Paused before the resumption came to pass, it counts as paused, though it is read.
  if (this.isPaused()) this.emit('pause');
  else this.pause();
}
