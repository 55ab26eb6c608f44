import type { PlantId, Plant } from '../../core/model/plant.ts';
import type { OwnedPlant, Write } from '../../core/storage-adapter.ts';

export function plantOf(user: string, id: bigint, name = 'a plant', tag?: string): OwnedPlant {
  return { user, plant: tag === undefined ? { id, name } : { id, name, tag } };
}

export function create(user: string, id: bigint, name?: string, tag?: string): Write {
  return { kind: 'create', ...plantOf(user, id, name, tag) };
}

/** Returns a create write for each plant. */
export function createAll(plants: readonly OwnedPlant[]): Write[] {
  return plants.map((owned) => ({ kind: 'create', ...owned }));
}

export function remove(user: string, id: bigint): Write {
  return { kind: 'delete', user, id };
}

/** Compares plants by user and then by id. */
export function compareOwned(a: OwnedPlant, b: OwnedPlant): number {
  if (a.user !== b.user) return a.user < b.user ? -1 : 1;
  return a.plant.id < b.plant.id ? -1 : Number(a.plant.id > b.plant.id);
}

export function ids(plants: readonly Plant[]): PlantId[] {
  return plants.map(({ id }) => id);
}

export function range(length: number): number[] {
  return Array.from({ length }, (_, n) => n);
}

/** Returns the items in shuffled order. The order is the same in every run. */
export function shuffled<T>(items: readonly T[]): T[] {
  return range(items.length)
    .toSorted((a, b) => ((a * 7919) % 104_729) - ((b * 7919) % 104_729))
    .flatMap((n) => items.slice(n, n + 1));
}
