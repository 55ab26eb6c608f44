import type { Plant } from '../core/model/plant.ts';
import { compareOwned } from '../core/key-order.ts';
import type { OwnedPlant, StorageAdapter } from '../core/storage-adapter.ts';
import { findPlants, keyOf } from './find-plants.ts';
import { forEachPage } from './pages.ts';

/** A plant that was not added, because the user already has a different plant with the same id. */
export interface PlantConflict {
  /** The user of both plants. */
  readonly user: string;
  /** The plant that was not added. */
  readonly plant: Plant;
  /** The stored plant with the same id, which stays unchanged. */
  readonly existing: Plant;
}

/** The result of `copyPlants`. */
export interface CopyCounts {
  /** The number of plants that were added to the target. */
  readonly added: number;
  /** The number of plants that the target already contained, with the same name and tag. */
  readonly present: number;
  /** The number of plants that were not copied, because the target has a different plant with the same user and id. */
  readonly conflicts: number;
}

/** The callbacks of `copyPlants`. If a callback throws, `copyPlants` stops and rejects with that error. */
export interface CopyPlantsOptions {
  /** Called after each page of at most 1000 plants, with the counts so far. */
  onProgress?: ((counts: CopyCounts) => void) | undefined;
  /** Called once for each conflict. */
  onConflict?: ((conflict: PlantConflict) => void) | undefined;
}

/**
 * The maximum number of attempts to add the plants of a page. This number is reached only if other clients repeatedly
 * delete and create the same plants.
 */
const maxRounds = 10;

/**
 * Adds pages of plants to a storage adapter. A page must contain at most one plant with a given key. If a plant's id is
 * taken, the stored plant stays unchanged. The new plant is counted as present if the two plants are equal, and as a
 * conflict if they differ.
 */
export async function addPlants(
  pages: AsyncIterable<readonly OwnedPlant[]>,
  to: StorageAdapter,
  { onProgress, onConflict }: CopyPlantsOptions,
): Promise<CopyCounts> {
  const counts = { added: 0, present: 0, conflicts: 0 };

  /** Adds the plants whose ids are free. Returns the other plants. */
  async function tryToAdd(plants: readonly OwnedPlant[]): Promise<OwnedPlant[]> {
    const outcomes = await to.commit(plants.map(({ user, plant }) => ({ kind: 'create', user, plant })));
    const notAdded = plants.filter((_, index) => outcomes[index] !== true);
    counts.added += plants.length - notAdded.length;
    return notAdded;
  }

  /** Counts the plants whose ids are taken. Returns the other plants. */
  async function withoutTaken(plants: readonly OwnedPlant[]): Promise<OwnedPlant[]> {
    const sorted = plants.toSorted(compareOwned);
    const stored = await findPlants(to, sorted);
    return sorted.filter(({ user, plant }) => {
      const existing = stored.get(keyOf({ user, plant }));
      if (existing === undefined) return true;
      if (existing.name === plant.name && existing.tag === plant.tag) {
        counts.present++;
      } else {
        counts.conflicts++;
        onConflict?.({ user, plant, existing });
      }
      return false;
    });
  }

  let areTaken = false;
  await forEachPage(pages, async (page) => {
    const addedBefore = counts.added;
    // If all ids of one page were taken, the ids of the next page are probably taken, too, so a read is faster than a
    // commit.
    let pending = areTaken ? await withoutTaken(page) : page;
    for (let round = 0; pending.length > 0; round++) {
      if (round === maxRounds) throw new Error('The storage reports that plants exist, but does not return them.');
      // A plant remains pending if its id was taken during the commit, but the plant that had this id was deleted
      // before the read.
      pending = await withoutTaken(await tryToAdd(pending));
    }
    areTaken = counts.added === addedBefore;
    onProgress?.({ ...counts });
  });
  return counts;
}
