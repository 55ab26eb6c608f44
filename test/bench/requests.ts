import { tokenOf } from './data-set.ts';

import type { Exchange } from './load.ts';

/** Returns the header of a request, without the empty line at its end. */
export function requestHead(method: string, target: string, user: string): string {
  return `${method} ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${tokenOf(user)}\r\n`;
}

/** Returns a request without a body. */
export function requestText(method: string, target: string, user: string): string {
  return `${requestHead(method, target, user)}\r\n`;
}

/** Returns a request that creates a plant. */
export function createText(user: string, id: number, plant: object): string {
  const body = JSON.stringify({ id, ...plant });
  const head = `${requestHead('POST', '/plants', user)}Content-Type: application/json\r\n`;
  return `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
}

/** Returns a request that creates a plant, with its expected response. */
export function createExchange(user: string, id: number, plant: object): Exchange {
  return { request: createText(user, id, plant), status: 200, body: Buffer.from(JSON.stringify(plant)) };
}
