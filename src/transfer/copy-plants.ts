import { checkFunctionOption, checkOptionNames } from '../model/options.ts';
import { checkAdapter } from '../storage/check-adapter.ts';
import type { StorageAdapter } from '../storage/storage-adapter.ts';
import { addPlants, withoutPresent } from './add-plants.ts';
import type { PlantConflict, PlantTally } from './add-plants.ts';
import { forEachOverlapped } from './overlapped.ts';
import { PlantFinder } from './plant-finder.ts';
import { scanPages } from './scan-pages.ts';

/** The result of {@link copyPlants}. */
export interface CopyCounts {
  /** The number of plants that were added to the target. */
  readonly added: number;
  /** The number of plants that the target already contained, with the same name and tag. */
  readonly present: number;
  /**
   * The number of plants that were not copied, because the target contains a different plant with the same user and id.
   */
  readonly conflicts: number;
}

/** The callbacks of {@link copyPlants}. If a callback throws, `copyPlants` stops and rejects with that error. */
export interface CopyPlantsOptions {
  /** Called after each page of at most 1000 plants, with the counts so far. */
  onProgress?: ((counts: CopyCounts) => void) | undefined;
  /** Called once for each conflict. */
  onConflict?: ((conflict: PlantConflict) => void) | undefined;
}

const optionNames = { onProgress: true, onConflict: true } as const satisfies Record<keyof CopyPlantsOptions, true>;

/**
 * Copies the plants of all users from one storage adapter to another, in constant memory. Never overwrites a plant. If
 * the target already contains a plant with the same user and id, the plant is not copied: it is counted as present if
 * the two plants are equal, and as a conflict if they differ. To continue an interrupted copy, call the function again.
 * Does not close the adapters.
 *
 * @returns the counts. The copy is complete if there are no conflicts.
 * @throws {TypeError} if `from` or `to` is not a storage adapter, if both are the same adapter, or if an option is
 *   invalid or unknown. The message names the option.
 * @example
 * const { added, conflicts } = await copyPlants(new SqliteStorage('plants.db'), storage, {
 *   onConflict: ({ user, plant }) => console.error(`${user} has another plant ${plant.id}`),
 * });
 */
export async function copyPlants(
  from: StorageAdapter,
  to: StorageAdapter,
  options: CopyPlantsOptions = {},
): Promise<CopyCounts> {
  checkAdapter('from', from);
  checkAdapter('to', to);
  if (from === to) throw new TypeError('from and to must not be the same storage');
  checkOptions(options);
  const { onProgress, onConflict } = options;

  const tally = new CopyTally(onConflict);
  const finder = new PlantFinder(to);
  await forEachOverlapped(scanPages(from), async (page) => {
    // Plants that the target already contains are skipped, so that a repeated copy writes nothing.
    await addPlants(to, await withoutPresent(finder, page, tally), tally);
    onProgress?.(tally.counts);
  });
  return tally.counts;
}

class CopyTally implements PlantTally {
  added = 0;
  present = 0;
  #conflicts = 0;
  readonly #onConflict: ((conflict: PlantConflict) => void) | undefined;

  constructor(onConflict: ((conflict: PlantConflict) => void) | undefined) {
    this.#onConflict = onConflict;
  }

  get counts(): CopyCounts {
    return { added: this.added, present: this.present, conflicts: this.#conflicts };
  }

  conflict(conflict: PlantConflict): void {
    this.#conflicts++;
    this.#onConflict?.(conflict);
  }
}

function checkOptions(options: CopyPlantsOptions): void {
  checkOptionNames('copyPlants', options, optionNames);
  for (const [name, value] of Object.entries(options)) if (value !== undefined) checkFunctionOption(name, value);
}
