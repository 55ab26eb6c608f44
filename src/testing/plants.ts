import type { OwnedPlant, Write } from '../core/storage-adapter.ts';

export function plantOf(user: string, id: bigint, name = 'a plant', tag?: string): OwnedPlant {
  return { user, plant: tag === undefined ? { id, name } : { id, name, tag } };
}

export function create(user: string, id: bigint, name?: string): Write {
  return { kind: 'create', ...plantOf(user, id, name) };
}

export function createAll(plants: readonly OwnedPlant[]): Write[] {
  return plants.map((owned) => ({ kind: 'create', ...owned }));
}

export function remove(user: string, id: bigint): Write {
  return { kind: 'delete', user, id };
}

export function removeAll(plants: readonly OwnedPlant[]): Write[] {
  return plants.map(({ user, plant }) => remove(user, plant.id));
}

export function range(length: number): number[] {
  return Array.from({ length }, (_, n) => n);
}

/** Returns the items in another order, which is the same in every run. */
export function shuffled<T>(items: readonly T[]): T[] {
  const order = new Map(items.map((item, n) => [item, (n * 7919) % 104_729]));
  return items.toSorted((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0));
}
