import { once } from 'node:events';
import { openConnection } from './connections.ts';
import { tokenOf } from './data-set.ts';
import type { PlantFields } from './data-set.ts';

/** The header of a request, without the empty line that ends it. */
export function requestHead(method: string, target: string, user: string): string {
  return `${method} ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${tokenOf(user)}\r\n`;
}

/** A request without a body. */
export function requestText(method: string, target: string, user: string): string {
  return `${requestHead(method, target, user)}\r\n`;
}

/** A request that creates a plant. */
export function createText(user: string, id: number, plant: PlantFields): string {
  const body = JSON.stringify({ id, ...plant });
  const head = `${requestHead('POST', '/plants', user)}Content-Type: application/json\r\n`;
  return `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
}

/** Reads a chunked list on a new connection, and returns the number of bytes received. */
export async function readWholeList(port: number, target: string, user: string): Promise<number> {
  const socket = await openConnection(port);
  socket.write(`${requestHead('GET', target, user)}Connection: close\r\n\r\n`);
  let last = '';
  socket.on('data', (chunk: Buffer) => {
    last = (last + chunk.subarray(-7).toString('latin1')).slice(-7);
  });
  await once(socket, 'close');
  if (last !== '\r\n0\r\n\r\n') throw new Error('The list is incomplete.');
  return socket.bytesRead;
}
