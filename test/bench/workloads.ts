import assert from 'node:assert/strict';
import { createRequest, floorName, requestHead } from './candidates.ts';
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
} from './garden.ts';
import type { Exchange } from './load.ts';

/** Something that clients do, over and over. */
export interface Workload {
  readonly name: string;
  /** Whether a candidate can do it at all. */
  readonly fits: (candidate: Candidate) => boolean;
  /** Makes what gives one request after the other. */
  readonly prepare: (candidate: Candidate) => Promise<() => Exchange | undefined>;
}

/** As the floor answers it to every create. */
const fern = { name: 'Fern', tag: 'indoor' };
const anyone = (): string => otherUsers[Math.floor(Math.random() * otherUsers.length)] ?? '';

export const workloads: readonly Workload[] = [
  {
    name: 'create',
    fits: () => true,
    prepare:
      async ({ dialect }) =>
      () =>
        createRequest(creatingUser, randomId(), fern, dialect),
  },
  { name: 'delete', fits: () => true, prepare: prepareDelete },
  { name: 'list 20', fits: () => true, prepare: (candidate) => prepareList(candidate, 20) },
  { name: 'list 1000', fits: () => true, prepare: (candidate) => prepareList(candidate, 1000) },
  { name: 'list 20 anywhere', fits: ({ dialect }) => dialect.isWhole, prepare: prepareListAnywhere },
  { name: '80 % list 20, 20 % create', fits: () => true, prepare: prepareMixed },
];

async function prepareList({ server, dialect, name }: Candidate, limit: number): Promise<() => Exchange> {
  const target = `/plants?${dialect.limitParameter}=${limit}`;
  const answered = await fetch(`http://127.0.0.1:${server.port}${target}`, {
    headers: { authorization: `Bearer ${tokenOf(listedUser)}` },
  });
  const text = await answered.text();
  const names = (JSON.parse(text) as { name: string }[]).map((plant) => plant.name);
  assert.deepEqual(
    names,
    Array.from({ length: limit }, (_, n) => plantNumber(n + 1).name),
    name,
  );
  const exchange = { request: `${requestHead('GET', target, listedUser)}\r\n`, status: 200, body: Buffer.from(text) };
  return () => exchange;
}

/** Pages of 20 that begin at a random place of a random user's: a million different lists. */
async function prepareListAnywhere({ dialect }: Candidate): Promise<() => Exchange> {
  return () => {
    const user = anyone();
    return {
      request: `${requestHead('GET', `/plants?${dialect.limitParameter}=20&after=${randomId()}`, user)}\r\n`,
      status: 200,
    };
  };
}

/** In no order; each plant once, over all loads. */
const nextDeletion = new Map<string, number>();

async function prepareDelete({ name, dialect }: Candidate): Promise<() => Exchange | undefined> {
  const step = 7919; // prime, so that every id comes once
  const [first, count] = dialect.answersPlant ? [1, deletedCount] : [listedCount + 1, listedCount];
  return () => {
    const n = nextDeletion.get(name) ?? 0;
    if (n >= count && name !== floorName) return undefined;
    nextDeletion.set(name, n + 1);
    const id = first + ((n * step) % count);
    return { request: `${requestHead('DELETE', `/plants/${id}`, deletedUser)}\r\n`, status: dialect.deletedStatus };
  };
}

async function prepareMixed(candidate: Candidate): Promise<() => Exchange> {
  const list = await prepareList(candidate, 20);
  let n = 0;
  // Of the same user: what is kept of the list is of no use after the next create.
  return () => (n++ % 5 === 0 ? createRequest(listedUser, randomId(), fern, candidate.dialect) : list());
}
