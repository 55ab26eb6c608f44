import type { Plant, PlantId } from '../core/model/plant.ts';
import type { ListRange, OwnedPlant, Write } from '../core/storage-adapter.ts';

export function plantOf(user: string, id: bigint | number, name = 'a plant', tag?: string): OwnedPlant {
  return { user, plant: { id: BigInt(id), name, ...(tag !== undefined && { tag }) } };
}

export function create(id: bigint | number, user = 'ada', name = ''): Write {
  return { kind: 'create', ...plantOf(user, id, name) };
}

export function remove(id: bigint | number, user = 'ada'): Write {
  return { kind: 'delete', user, id: BigInt(id) };
}

export function createEach(plants: readonly OwnedPlant[]): Write[] {
  return plants.map((owned) => ({ kind: 'create', ...owned }));
}

export function removeEach(plants: readonly OwnedPlant[]): Write[] {
  return plants.map(({ user, plant }) => remove(plant.id, user));
}

/** Selects the first page of a list, with the maximum limit. */
export const firstPage: ListRange = { after: undefined, limit: 1000 };

export function integersBelow(end: number): number[] {
  return Array.from({ length: end }, (_, n) => n);
}

/** Returns the items in another order, which is the same in every run. */
export function shuffled<T>(items: readonly T[]): T[] {
  const order = new Map(items.map((item, n) => [item, (n * 7919) % 104_729]));
  return items.toSorted((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0));
}

/** A simple store of plants, with which tests compare storages and services. */
export class ReferenceStore {
  readonly #users = new Map<string, Map<PlantId, Plant>>();

  constructor(plants: readonly OwnedPlant[] = []) {
    for (const write of createEach(plants)) this.apply(write);
  }

  /** Returns whether the write changed the store. If the id of a new plant is taken, the stored plant is kept. */
  apply(write: Write): boolean {
    const plants = this.#users.get(write.user) ?? new Map<PlantId, Plant>();
    this.#users.set(write.user, plants);
    if (write.kind === 'delete') return plants.delete(write.id);
    if (plants.has(write.plant.id)) return false;
    plants.set(write.plant.id, write.plant);
    return true;
  }

  list(user: string, after?: PlantId): Plant[] {
    const plants = [...(this.#users.get(user)?.values() ?? [])];
    return plants.filter(({ id }) => after === undefined || id > after).sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** All users that have plants or had some, sorted. */
  get users(): string[] {
    return [...this.#users.keys()].sort();
  }

  /** Returns all plants, sorted by user and id. */
  scan(): OwnedPlant[] {
    return this.users.flatMap((user) => this.list(user).map((plant) => ({ user, plant })));
  }
}
