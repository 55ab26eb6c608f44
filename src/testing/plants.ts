import { idOf } from '../core/storage-adapter.ts';
import type { ListRange, OwnedPlant, Write } from '../core/storage-adapter.ts';
import type { FaultyWrite } from './options.ts';

export function plantOf(user: string, id: bigint | number, name = 'a plant', tag?: string): OwnedPlant {
  return { user, plant: { id: BigInt(id), name, ...(tag !== undefined && { tag }) } };
}

export function create(id: bigint | number, user = 'ada', name = ''): Write {
  return { kind: 'create', ...plantOf(user, id, name) };
}

export function remove(id: bigint | number, user = 'ada'): Write {
  return { kind: 'delete', user, id: BigInt(id) };
}

export function faultOf(write: Write): FaultyWrite {
  return { kind: write.kind, user: write.user, id: idOf(write) };
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
