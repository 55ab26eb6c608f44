import type { Plant, StoredPlant } from '../model/plant.ts';
import { compareOwned } from '../storage/key-order.ts';
import type { OwnedPlant, StorageAdapter } from '../storage/storage-adapter.ts';
import { PlantFinder } from './plant-finder.ts';

/** A plant that was not added, because a different plant of the same user has the same id. */
export interface PlantConflict {
  /** The user of both plants. */
  readonly user: string;
  /** The plant that was not added. */
  readonly plant: StoredPlant;
  /** The stored plant with the same id, which stays unchanged. */
  readonly existing: StoredPlant;
}

/** Counts the results of adding plants. */
export interface PlantTally {
  added: number;
  /** How many plants existed already, with the same name and tag. */
  present: number;
  /** Counts a conflict. */
  conflict(conflict: PlantConflict): void;
}

/** The maximum number of rounds. More are needed only if a client keeps deleting and creating the same plants. */
const maxRounds = 10;

/**
 * Adds plants with distinct keys to a storage adapter, in one batch. If a plant's id is taken, the stored plant stays
 * unchanged. The plant is then counted as present, or as a conflict if the two plants differ.
 */
export async function addPlants(
  storage: StorageAdapter,
  plants: readonly OwnedPlant[],
  tally: PlantTally,
): Promise<void> {
  let pending = plants;
  for (let round = 0; pending.length > 0; round++) {
    if (round === maxRounds) throw new Error('The storage rejects plants as existing, but does not return them.');
    const outcomes = await storage.commit(pending.map(({ user, plant }) => ({ kind: 'create', user, plant })));
    const refused = pending.filter((_, index) => outcomes[index] !== true).sort(compareOwned);
    tally.added += pending.length - refused.length;
    // If a plant was refused but is not found, it was deleted in the meantime.
    pending = await withoutPresent(new PlantFinder(storage), refused, tally);
  }
}

/** Counts the plants whose id is taken, and returns the others. */
export async function withoutPresent(
  finder: PlantFinder,
  plants: readonly OwnedPlant[],
  tally: PlantTally,
): Promise<OwnedPlant[]> {
  const found = await finder.findAll(plants);
  return plants.filter((owned, index) => {
    const existing = found[index];
    if (existing === undefined) return true;
    if (isSame(existing, owned.plant)) tally.present++;
    else tally.conflict({ ...owned, existing });
    return false;
  });
}

function isSame(a: Plant, b: Plant): boolean {
  return a.name === b.name && a.tag === b.tag;
}
