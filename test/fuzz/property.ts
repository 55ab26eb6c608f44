import fc from 'fast-check';
import type { StoredPlant } from '../../src/index.ts';
import { collector, users } from './callers.ts';
import { rule } from './finding.ts';
import { collection } from './garden.ts';
import type { Garden } from './garden.ts';
import { judgeConnection, operationsOf } from './judge.ts';
import type { Known } from './judge-answer.ts';
import { Ledger } from './ledger.ts';
import { anyId } from './numbers.ts';
import { play } from './play.ts';
import type { Script } from './play.ts';
import { requestBytes } from './request-bytes.ts';

/** What one run of the property does. */
interface Case {
  /** What is there before. */
  readonly plants: readonly (readonly [user: string, plant: StoredPlant])[];
  /** Connections that are open at the same time. */
  readonly scripts: readonly Script[];
}

const part = fc.nat(1000).map((n) => n / 1000);

const script: fc.Arbitrary<Script> = fc.record(
  {
    drafts: fc.array(requestBytes, { minLength: 1, maxLength: 5, size: 'max' }),
    isStepwise: fc.boolean(),
    cuts: fc.oneof(
      { weight: 2, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(part, { maxLength: 5 }) },
    ),
    ending: fc.constantFrom('waits', 'waits', 'waits', 'waits', 'half-closes', 'destroys', 'resets'),
    endsAt: part,
  },
  { noNullPrototype: true },
);

const plant = fc.record({ id: anyId, name: fc.constantFrom('old', '"', '\u{1F33F}') }, { noNullPrototype: true });

const anyCase: fc.Arbitrary<Case> = fc.record(
  {
    plants: fc.uniqueArray(fc.tuple(fc.constantFrom(...users), plant), {
      maxLength: 5,
      selector: ([user, { id }]) => `${user} ${id}`,
    }),
    scripts: fc.oneof(
      { weight: 3, arbitrary: fc.array(script, { minLength: 1, maxLength: 1 }) },
      { weight: 1, arbitrary: fc.array(script, { minLength: 2, maxLength: 4 }) },
    ),
  },
  { noNullPrototype: true },
);

/** A case may take this long, however busy the machine is. */
const maxCaseMs = 20_000;

/** Whatever clients send, the server does what the interface says and nothing else. */
export function serverProperty(
  inGarden: (run: (garden: Garden) => Promise<void>) => Promise<void>,
  onCase: () => void,
): fc.IAsyncPropertyWithHooks<[Case]> {
  return fc.asyncProperty(anyCase, async ({ plants, scripts }) => {
    onCase();
    const start = performance.now();
    await inGarden((garden) => runCase(garden, { plants, scripts }));
    rule(performance.now() - start < maxCaseMs, () => `this took ${performance.now() - start} ms`);
  });
}

async function runCase(garden: Garden, { plants, scripts }: Case): Promise<void> {
  await garden.plant(plants);
  const played = await Promise.all(scripts.map((script) => play(garden.port, script)));
  await garden.rest();
  const ledger = new Ledger([...plants, ...collection.map((plant) => [collector, plant] as const)]);
  const operations = played.map(operationsOf);
  for (const operation of operations.flat()) {
    if (operation.kind === 'create') ledger.send(operation.user, operation.plant);
  }
  const usersOfAll = operations.map(
    (all) => new Set(all.flatMap((operation) => ('user' in operation ? [operation.user] : []))),
  );
  for (const [n, connection] of played.entries()) {
    // Of a user who is spoken for on one connection only, every answer can be foretold.
    const known = (user: string): Known =>
      user === collector || usersOfAll.every((others, other) => other === n || !others.has(user))
        ? 'exactly'
        : 'roughly';
    judgeConnection(connection, ledger, known);
  }
  for (const user of users) ledger.check(user, await garden.store.listPlants(user));
}
