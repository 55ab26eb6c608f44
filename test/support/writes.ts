import type { OwnedPlant, Write } from '../../src/index.ts';

export function create(id: number | bigint, user = 'ada', name = ''): Write {
  return { kind: 'create', user, plant: { id: BigInt(id), name } };
}

export function remove(id: number | bigint, user = 'ada'): Write {
  return { kind: 'delete', user, id: BigInt(id) };
}

export function createEach(plants: readonly OwnedPlant[]): Write[] {
  return plants.map(({ user, plant }) => ({ kind: 'create', user, plant }));
}

/** The range of a list or scan that starts at the first plant and reads the longest possible page. */
export const everything = { after: undefined, limit: 1000 };
