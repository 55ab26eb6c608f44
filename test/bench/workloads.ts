import assert from 'node:assert/strict';
import { pick } from '../support/pick.ts';
import { creatingUser, numberedUsers, otherUsers, plantNumber, randomId, tokenOf } from './data-set.ts';
import type { Exchange, Next } from './generator.ts';
import { bareName } from './rounds.ts';

interface Target {
  readonly name: string;
  readonly port: number;
}
type Prepare = (target: Target) => Next | Promise<Next>;

/** A kind of request that clients send repeatedly. */
export interface Workload {
  readonly name: string;
  /** The numbers of connections; by default 64 and 1. */
  readonly connections?: readonly number[];
  /** The names of the candidates that can run the workload. */
  readonly candidates: RegExp;
  readonly prepare: Prepare;
  /** Whether servers with SQLite are restarted before each round. */
  readonly afterRestart?: boolean;
  /** A second workload that runs at the same time on 16 more connections. Only its figures count. */
  readonly beside?: Prepare;
}

/** The plant in every create request, because the bare server returns it as a constant. */
const fern = { name: 'Fern', tag: 'indoor' };
const nextCreate: Next = () => createExchange(creatingUser, randomId(), fern);
const nextList20 = (target: Target): Promise<Next> => prepareList(target, 'ada', 20);

export const restartName = 'create after a restart';
const onFile = /^(?!.*slow disk).*(node:http|sqlite)/i;
const all = /^(?!.*slow disk)/;
const allButMemory = /^(?!.*(memory|slow disk))/;

export const workloads: readonly Workload[] = [
  // This workload is the first because it determines the peak memory.
  { name: 'whole list', connections: [1], candidates: all, prepare: (target) => prepareList(target, 'liz') },
  { name: 'create', candidates: all, prepare: () => nextCreate },
  { name: 'delete', candidates: all, prepare: prepareDelete },
  { name: 'list 20', candidates: all, prepare: nextList20 },
  { name: 'list 1000', candidates: all, prepare: (target) => prepareList(target, 'ada', 1000) },
  { name: 'list 20 anywhere', prepare: () => listAnywhere, candidates: allButMemory },
  { name: '80 % list 20, 20 % create', candidates: all, prepare: prepareMixed },
  { name: 'slow disk', connections: [8], prepare: () => nextCreate, beside: nextList20, candidates: /slow disk/ },
  // SQLite writes the size of the write-ahead log with each fsync while the log grows. This workload is the last one,
  // because other workloads need a log that has its size.
  { name: restartName, connections: [1], candidates: onFile, prepare: () => nextCreate, afterRestart: true },
];

export function rowName(workload: string, connections: number): string {
  return `${workload}, ${connections} ${connections === 1 ? 'connection' : 'connections'}`;
}

export function createExchange(user: string, id: number, plant: object): Exchange {
  const headers = { ...authorization(user), 'content-type': 'application/json' };
  const body = JSON.stringify({ id, ...plant });
  return { method: 'POST', path: '/plants', headers, body, status: 200, expected: Buffer.from(JSON.stringify(plant)) };
}

function authorization(user: string): Record<string, string> {
  return { authorization: `Bearer ${tokenOf(user)}` };
}

async function prepareList({ port, name }: Target, user: keyof typeof numberedUsers, limit?: number): Promise<Next> {
  const path = limit === undefined ? '/plants' : `/plants?limit=${limit}`;
  const headers = authorization(user);
  const text = await (await fetch(`http://127.0.0.1:${port}${path}`, { headers })).text();
  const names = (JSON.parse(text) as { name: string }[]).map((plant) => plant.name);
  const count = limit ?? numberedUsers[user];
  const expected = Array.from({ length: count }, (_, n) => plantNumber(n + 1).name);
  assert.deepEqual(names, expected, name);
  const exchange: Exchange = { method: 'GET', path, headers, status: 200, expected: Buffer.from(text) };
  return () => exchange;
}

/** Lists 20 plants of a random user after a random id, so that almost every request is for a different list. */
function listAnywhere(): Exchange {
  const headers = authorization(pick(otherUsers));
  return { method: 'GET', path: `/plants?after=${randomId()}&limit=20`, headers, status: 200 };
}

/** How many plants each candidate has deleted in all rounds together. */
const nextDeletion = new Map<string, number>();

function prepareDelete({ name }: Target): Next {
  const step = 7919; // A prime number, so that every id is used once, in no particular order.
  const count = numberedUsers.eve;
  const headers = authorization('eve');
  return () => {
    const n = nextDeletion.get(name) ?? 0;
    if (n >= count && name !== bareName) return undefined;
    nextDeletion.set(name, n + 1);
    return { method: 'DELETE', path: `/plants/${1 + ((n * step) % count)}`, headers, status: 204 };
  };
}

async function prepareMixed(target: Target): Promise<Next> {
  const list = await nextList20(target);
  let n = 0;
  // Creates plants for the listed user, so that each create request invalidates the cached list.
  return () => (n++ % 5 === 0 ? createExchange('ada', randomId(), fern) : list());
}
