import { isDeepStrictEqual } from 'node:util';
import type { StoredPlant } from '../../src/index.ts';
import { rule } from './finding.ts';
import type { Operation } from './expectation.ts';

export type Write = Extract<Operation, { kind: 'create' | 'delete' }>;

/** The writes to one id of one user. */
interface PlantHistory {
  /** Every plant that a client tried to create under this id. */
  readonly candidates: StoredPlant[];
  /** Acknowledged creates minus acknowledged deletes: 0 or 1. */
  acknowledged: number;
  /** Writes without a response, which may or may not have taken effect. */
  uncertainCreates: number;
  uncertainDeletes: number;
}

/** All writes of a case, and what the store must contain after them. */
export class WriteHistory {
  readonly #histories = new Map<string, Map<bigint, PlantHistory>>();
  readonly #sent = new Map<string, StoredPlant[]>();

  constructor(initial: Iterable<readonly [user: string, plant: StoredPlant]>) {
    for (const [user, plant] of initial) {
      const history = this.#history(user, plant.id);
      history.acknowledged = 1;
      history.candidates.push(plant);
    }
  }

  /** Adds a plant that was sent, whether or not it was created. */
  addSent(user: string, plant: StoredPlant): void {
    this.#sent.set(user, [...(this.#sent.get(user) ?? []), plant]);
  }

  /** Adds an acknowledged write. */
  addAcknowledged(write: Write): void {
    const history = this.#history(write.user, idOf(write));
    history.acknowledged += write.kind === 'create' ? 1 : -1;
    if (write.kind === 'create') history.candidates.push(write.plant);
  }

  /** Adds a write without a response, which may or may not have taken effect. */
  addUncertain(write: Write): void {
    const history = this.#history(write.user, idOf(write));
    if (write.kind === 'create') {
      history.uncertainCreates++;
      history.candidates.push(write.plant);
    } else {
      history.uncertainDeletes++;
    }
  }

  /** Whether the plant exists, if the order of all writes to it is known. */
  has(user: string, id: bigint): boolean {
    return this.#history(user, id).acknowledged > 0;
  }

  /** A user's plants by ascending id, if the order of all writes to them is known. */
  plantsOf(user: string): StoredPlant[] {
    const histories = [...(this.#histories.get(user)?.values() ?? [])].filter(({ acknowledged }) => acknowledged > 0);
    return histories.flatMap(({ candidates }) => candidates.slice(-1)).sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** Every plant that the user may have had at any time. */
  possiblePlantsOf(user: string): StoredPlant[] {
    return [
      ...[...(this.#histories.get(user)?.values() ?? [])].flatMap(({ candidates }) => candidates),
      ...(this.#sent.get(user) ?? []),
    ];
  }

  /** Compares the plants that the store contains for a user with the history. */
  check(user: string, stored: readonly StoredPlant[]): void {
    const byId = new Map(stored.map((plant) => [plant.id, plant]));
    rule(byId.size === stored.length, () => `${user} has an id twice: ${show(stored)}`);
    for (const [id, plant] of byId) {
      const history = this.#history(user, id);
      rule(
        history.acknowledged + history.uncertainCreates > 0,
        () => `${user} has a plant that no client created: ${show([plant])}`,
      );
      rule(
        history.candidates.some((candidate) => isDeepStrictEqual(candidate, plant)),
        () => `${user} has ${show([plant])}, which was sent as ${show(history.candidates)}`,
      );
    }
    for (const [id, history] of this.#histories.get(user) ?? []) {
      const { acknowledged, uncertainCreates, uncertainDeletes, candidates } = history;
      const found = byId.has(id) ? 1 : 0;
      const uncertain = `${uncertainCreates} creates and ${uncertainDeletes} deletes without a response`;
      rule(
        found <= acknowledged + uncertainCreates && found >= acknowledged - uncertainDeletes,
        () => `${user} has ${found} instead of ${acknowledged} of the plants ${show(candidates)}, with ${uncertain}`,
      );
    }
  }

  #history(user: string, id: bigint): PlantHistory {
    let histories = this.#histories.get(user);
    if (histories === undefined) this.#histories.set(user, (histories = new Map<bigint, PlantHistory>()));
    let history = histories.get(id);
    if (history === undefined) {
      histories.set(id, (history = { candidates: [], acknowledged: 0, uncertainCreates: 0, uncertainDeletes: 0 }));
    }
    return history;
  }
}

function idOf(write: Write): bigint {
  return write.kind === 'create' ? write.plant.id : write.id;
}

function show(plants: readonly StoredPlant[]): string {
  return plants.map(({ id, ...rest }) => `${id} ${JSON.stringify(rest)}`).join(', ');
}
