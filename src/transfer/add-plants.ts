import type { Plant } from '../core/model/plant.ts';
import { maxPageLength } from '../core/page.ts';
import type { OwnedPlant, StorageAdapter } from '../core/storage-adapter.ts';
import { findPlants, keyOf } from './find-plants.ts';

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
  readonly existing: number;
  /** The number of plants that were not copied, because the target has a different plant with the same user and id. */
  readonly conflicts: number;
}

/** The callbacks of `copyPlants`. If a callback throws, `copyPlants` stops and rejects with that error. */
export interface CopyPlantsOptions {
  /** Called after each page of about 1000 plants, with the counts so far. */
  onProgress?: ((counts: CopyCounts) => void) | undefined;
  /** Called once for each conflict. */
  onConflict?: ((conflict: PlantConflict) => void) | undefined;
}

/** Reached only if other clients repeatedly delete and create the same plants. */
const maxRounds = 10;

/** A page must contain at most one plant with a given user and id. */
export async function addPlants(
  pages: AsyncIterable<readonly OwnedPlant[]>,
  to: StorageAdapter,
  { onProgress, onConflict }: CopyPlantsOptions,
): Promise<CopyCounts> {
  const counts = { added: 0, existing: 0, conflicts: 0 };

  function countTaken({ user, plant }: OwnedPlant, existing: Plant | undefined): boolean {
    if (existing === undefined) return false;
    if (existing.name === plant.name && existing.tag === plant.tag) {
      counts.existing++;
    } else {
      counts.conflicts++;
      onConflict?.({ user, plant, existing });
    }
    return true;
  }

  async function addBatch(plants: readonly OwnedPlant[]): Promise<void> {
    let pending = plants;
    for (let round = 0; pending.length > 0; round++) {
      if (round === maxRounds) throw new Error('The storage reports that plants exist, but does not return them.');
      const outcomes = await to.commit(pending.map((owned) => ({ kind: 'create', ...owned })));
      const taken = pending.filter((_, index) => outcomes[index] !== true);
      counts.added += pending.length - taken.length;
      const stored = await findPlants(to, taken);
      // A plant remains pending if the stored plant with its id was deleted after the commit.
      pending = taken.filter((owned) => !countTaken(owned, stored.get(keyOf(owned))));
    }
  }

  for await (const page of pages) {
    for (let at = 0; at < page.length; at += maxPageLength) await addBatch(page.slice(at, at + maxPageLength));
    onProgress?.({ ...counts });
  }
  return counts;
}
