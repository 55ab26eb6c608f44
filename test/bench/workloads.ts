import assert from 'node:assert/strict';
import { bareName } from './candidates.ts';
import type { Candidate } from './candidates.ts';
import {
  creatingUser,
  deletedCount,
  deletedUser,
  listedCount,
  listedUser,
  otherUsers,
  plantNumber,
  randomId,
  tokenOf,
} from './data-set.ts';
import { createExchange } from './dialect.ts';
import type { Exchange } from './load.ts';
import { requestText } from './requests.ts';

/** A request that clients send repeatedly. */
export interface Workload {
  readonly name: string;
  /** Whether a candidate can run it. */
  readonly supports: (candidate: Candidate) => boolean;
  /** Returns a function that returns the next request. */
  readonly prepare: (candidate: Candidate) => Promise<() => Exchange | undefined>;
}

/** The plant that every create sends: the bare server returns it as a constant. */
const fern = { name: 'Fern', tag: 'indoor' };

export const workloads: readonly Workload[] = [
  {
    name: 'create',
    supports: () => true,
    prepare:
      async ({ dialect }) =>
      () =>
        createExchange(creatingUser, randomId(), fern, dialect),
  },
  { name: 'delete', supports: () => true, prepare: prepareDelete },
  { name: 'list 20', supports: () => true, prepare: (candidate) => prepareList(candidate, 20) },
  { name: 'list 1000', supports: () => true, prepare: (candidate) => prepareList(candidate, 1000) },
  { name: 'list 20 anywhere', supports: ({ dialect }) => dialect.hasAllPlants, prepare: prepareListAnywhere },
  { name: '80 % list 20, 20 % create', supports: () => true, prepare: prepareMixed },
];

async function prepareList({ server, dialect, name }: Candidate, limit: number): Promise<() => Exchange> {
  const target = `/plants?${dialect.limitParameter}=${limit}`;
  const response = await fetch(`http://127.0.0.1:${server.port}${target}`, {
    headers: { authorization: `Bearer ${tokenOf(listedUser)}` },
  });
  const text = await response.text();
  const names = (JSON.parse(text) as { name: string }[]).map((plant) => plant.name);
  assert.deepEqual(
    names,
    Array.from({ length: limit }, (_, n) => plantNumber(n + 1).name),
    name,
  );
  const exchange = { request: requestText('GET', target, listedUser), status: 200, body: Buffer.from(text) };
  return () => exchange;
}

/** Pages of 20 that start after a random id of a random user: a million different lists. */
async function prepareListAnywhere({ dialect }: Candidate): Promise<() => Exchange> {
  return () => {
    const user = otherUsers[Math.floor(Math.random() * otherUsers.length)] ?? '';
    const target = `/plants?${dialect.limitParameter}=20&after=${randomId()}`;
    return { request: requestText('GET', target, user), status: 200 };
  };
}

/** How many plants each candidate has deleted. Each plant is deleted once, in all rounds together. */
const nextDeletion = new Map<string, number>();

async function prepareDelete({ name, dialect }: Candidate): Promise<() => Exchange | undefined> {
  const step = 7919; // A prime, so that every id is used once, in no particular order.
  const [first, count] = dialect.returnsPlant ? [1, deletedCount] : [listedCount + 1, listedCount];
  return () => {
    const n = nextDeletion.get(name) ?? 0;
    if (n >= count && name !== bareName) return undefined;
    nextDeletion.set(name, n + 1);
    const id = first + ((n * step) % count);
    return { request: requestText('DELETE', `/plants/${id}`, deletedUser), status: dialect.deletedStatus };
  };
}

async function prepareMixed(candidate: Candidate): Promise<() => Exchange> {
  const list = await prepareList(candidate, 20);
  let n = 0;
  // The same user, so that each create invalidates the cached list.
  return () => (n++ % 5 === 0 ? createExchange(listedUser, randomId(), fern, candidate.dialect) : list());
}
