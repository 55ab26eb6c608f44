import type { Plant, StoredPlant } from '../model/plant.ts';
import { compareOwned } from '../storage/key-order.ts';
import type { OwnedPlant, StorageAdapter } from '../storage/storage-adapter.ts';
import { PlantFinder } from './plant-finder.ts';

/** A plant that was not added, because the user already has a different plant with the same id. */
export interface PlantConflict {
  /** The user of both plants. */
  readonly user: string;
  /** The plant that was not added. */
  readonly plant: StoredPlant;
  /** The stored plant with the same id, which stays unchanged. */
  readonly existing: StoredPlant;
}

/** Counts plants by result: added, already present, or in conflict with a stored plant. */
export interface PlantTally {
  added: number;
  /** The number of plants that already existed, with the same name and tag. */
  present: number;
  /** Called for each conflict. */
  conflict(conflict: PlantConflict): void;
}

/**
 * The maximum number of attempts to add the plants of a batch. This number is reached only if other clients repeatedly
 * delete and create the same plants.
 */
const maxRounds = 10;

/**
 * Adds plants with distinct keys to a storage adapter, in one batch. If the id of a plant is taken, the stored plant
 * stays unchanged. The new plant is counted as present if the two plants are equal, and as a conflict if they differ.
 */
export async function addPlants(
  storage: StorageAdapter,
  plants: readonly OwnedPlant[],
  tally: PlantTally,
): Promise<void> {
  let pending = plants;
  for (let round = 0; pending.length > 0; round++) {
    if (round === maxRounds) throw new Error('The storage reports that plants exist, but does not return them.');
    const outcomes = await storage.commit(pending.map(({ user, plant }) => ({ kind: 'create', user, plant })));
    const notAdded = pending.filter((_, index) => outcomes[index] !== true).sort(compareOwned);
    tally.added += pending.length - notAdded.length;
    // If the id of a plant was taken but no stored plant with this id is found, the stored plant has been deleted since
    // the commit. The next round then adds the new plant.
    pending = await withoutPresent(new PlantFinder(storage), notAdded, tally);
  }
}

/**
 * Returns the plants whose ids are not taken in the storage. Counts each of the other plants as present or as a
 * conflict.
 */
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
