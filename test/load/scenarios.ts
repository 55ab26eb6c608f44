import { tokenOf } from '../bench/data-set.ts';
import type { Attack } from './attack.ts';

export interface Scenario {
  readonly name: string;
  readonly attack: Attack;
  /** How many permits the attack can hold. A request that does not reach its operation holds none. */
  readonly permits?: number;
  /** How long another user's request may take during the attack. By default, 3 seconds. */
  readonly maxWaitMs?: number;
}

/** Users with 40 plants. Each name has 65,000 characters, one of them above U+00FF. */
export const longUsers = ['long-1', 'long-2', 'long-3', 'long-4'];
/** The user with 40,000 plants. From number 1001 on, their names have 230 characters. */
export const greedyUser = 'ada';

const ada = [tokenOf(greedyUser)];
const long = longUsers.map(tokenOf);

const head = (method: string, target: string): string =>
  `${method} ${target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer TOKEN\r\n`;
const get = (target: string): string => `${head('GET', target)}\r\n`;
const post = (length: number, body: string): string =>
  `${head('POST', '/plants')}Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`;

/** A header of 15 KiB without its end. */
const largeHeader = `POST /plants HTTP/1.1\r\nHost: x\r\n${`X-Field: ${'x'.repeat(110)}\r\n`.repeat(126)}`;

/** A page of 327,000 characters that no other client requests, so that it is not cached. */
const longPage = get('/plants?limit=5&after=-NUMBER');

export const scenarios: readonly Scenario[] = [
  { name: '9400 idle connections', attack: { connections: 9400, text: '' } },
  {
    name: '9400 connections without a token that send a large header and part of a body',
    attack: { connections: 9400, text: `${largeHeader}Content-Length: 100\r\n\r\n{` },
  },
  {
    name: '9400 connections that send a large header without its end',
    attack: { connections: 9400, text: largeHeader },
  },
  { name: '10,500 stalled bodies', attack: { connections: 10_500, text: post(100, '{'), tokens: ada }, permits: 500 },
  {
    name: '6000 fast readers of 40,000 plants',
    attack: { connections: 6000, text: get('/plants'), tokens: ada },
    permits: 500,
    maxWaitMs: 20_000,
  },
  {
    name: '11,000 slow readers of a file of /docs',
    attack: { connections: 11_000, text: get('/docs/swagger-ui-bundle.js'), reads: 'little' },
  },
  {
    name: '1200 idle connections after a page of 650 KB',
    attack: { connections: 1200, text: longPage, tokens: long.slice(0, 1) },
  },
  {
    name: '4 users with 240 connections that read nothing',
    attack: { connections: 960, text: longPage, tokens: long, reads: 'nothing' },
    permits: 800,
  },
  {
    name: '1000 connections that repeat HEAD',
    attack: {
      connections: 1000,
      text: `${head('HEAD', '/plants?limit=2147483647')}\r\n`,
      tokens: ada,
      repeats: true,
    },
    permits: 500,
  },
  {
    name: '1000 connections that pipeline 1000 lists',
    attack: { connections: 1000, text: get('/plants?limit=1000').repeat(1000), tokens: ada, repeats: true },
    permits: 500,
    // node:http needs 10 ms to parse the 64 KiB that a new connection sends, so one round of all clients takes 10 s.
    maxWaitMs: 30_000,
  },
  {
    name: '2000 connections of one user that repeat a list of 20',
    attack: { connections: 2000, text: get('/plants?limit=20&after=NUMBER'), tokens: ada, repeats: true },
    permits: 500,
  },
  {
    name: '5000 connections of one user that repeat a create',
    attack: { connections: 5000, text: post(21, '{"id":1,"name":"Oak"}'), tokens: ada, repeats: true },
    permits: 500,
  },
];
