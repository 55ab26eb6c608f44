import assert from 'node:assert/strict';
import { memoryName } from './candidates.ts';
import type { Candidate, Running } from './candidates.ts';
import {
  creatingUser,
  deletedUser,
  listedUser,
  numberedUsers,
  otherUsers,
  plantNumber,
  randomId,
  tokenOf,
  wholeUser,
} from './data-set.ts';
import type { Exchange } from './load.ts';
import { bareName } from './report.ts';
import { createExchange, requestText } from './requests.ts';

/** A kind of request that clients send repeatedly. */
export interface Workload {
  readonly name: string;
  /** The number of connections, if the workload is run with only one number of connections. */
  readonly connections?: number;
  /** Whether a candidate can run the workload. By default, all candidates can. */
  readonly supports?: (candidate: Candidate) => boolean;
  /** Returns a function that returns the next request. */
  readonly prepare: (candidate: Running) => Next | Promise<Next>;
}

type Next = () => Exchange | undefined;

/** The plant in every create request, because the bare server returns it as a constant. */
const fern = { name: 'Fern', tag: 'indoor' };

export const nextCreate: Next = () => createExchange(creatingUser, randomId(), fern);

export const workloads: readonly Workload[] = [
  // This workload is the first because it determines the peak memory.
  { name: 'whole list', connections: 1, prepare: (candidate) => prepareList(candidate, wholeUser) },
  { name: 'create', prepare: () => nextCreate },
  { name: 'delete', prepare: prepareDelete },
  { name: 'list 20', prepare: (candidate) => prepareList(candidate, listedUser, 20) },
  { name: 'list 1000', prepare: (candidate) => prepareList(candidate, listedUser, 1000) },
  { name: 'list 20 anywhere', supports: ({ base }) => base !== memoryName, prepare: () => listAnywhere },
  { name: '80 % list 20, 20 % create', prepare: prepareMixed },
];

/** Returns the name of a workload's row. */
export function rowName(workload: string, connections: number): string {
  return `${workload}, ${connections} ${connections === 1 ? 'connection' : 'connections'}`;
}

/** Lists a user's first plants, or all of the user's plants. */
export async function prepareList(
  { server, name }: Running,
  user: keyof typeof numberedUsers,
  limit?: number,
): Promise<Next> {
  const target = limit === undefined ? '/plants' : `/plants?limit=${limit}`;
  const headers = { authorization: `Bearer ${tokenOf(user)}` };
  const text = await (await fetch(`http://127.0.0.1:${server.port}${target}`, { headers })).text();
  const names = (JSON.parse(text) as { name: string }[]).map((plant) => plant.name);
  const count = limit ?? numberedUsers[user];
  const expected = Array.from({ length: count }, (_, n) => plantNumber(n + 1).name);
  assert.deepEqual(names, expected, name);
  const exchange = { request: requestText('GET', target, user), status: 200, body: Buffer.from(text) };
  return () => exchange;
}

/** Lists 20 plants of a random user after a random id, so that almost every request is for a different list. */
function listAnywhere(): Exchange {
  const user = otherUsers[Math.floor(Math.random() * otherUsers.length)] ?? '';
  return { request: requestText('GET', `/plants?after=${randomId()}&limit=20`, user), status: 200 };
}

/** How many plants each candidate has deleted in all rounds together. */
const nextDeletion = new Map<string, number>();

function prepareDelete({ name }: Candidate): Next {
  const step = 7919; // A prime number, so that every id is used once, in no particular order.
  const count = numberedUsers[deletedUser];
  return () => {
    const n = nextDeletion.get(name) ?? 0;
    if (n >= count && name !== bareName) return undefined;
    nextDeletion.set(name, n + 1);
    return { request: requestText('DELETE', `/plants/${1 + ((n * step) % count)}`, deletedUser), status: 204 };
  };
}

async function prepareMixed(candidate: Running): Promise<Next> {
  const list = await prepareList(candidate, listedUser, 20);
  let n = 0;
  // Creates plants for the listed user, so that each create request invalidates the cached list.
  return () => (n++ % 5 === 0 ? createExchange(listedUser, randomId(), fern) : list());
}
