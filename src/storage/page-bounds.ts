import type { Plant } from '../plant.ts';
import type { OwnedPlant } from './storage-adapter.ts';

/** The most plants that one read asks a storage for. */
export const maxPageLength = 1000;

/**
 * A page that holds this much text (UTF-16 code units of names and tags) takes no further plant, so
 * that what a list has in memory is bounded however long names are: see `StorageAdapter.list`.
 */
export const maxPageText = 262_144;

/** The text of a plant, in UTF-16 code units. */
export function textLength({ name, tag }: Plant): number {
  return name.length + (tag?.length ?? 0);
}

/** The text of a plant and whose it is, in UTF-16 code units. */
export function ownedTextLength({ user, plant }: OwnedPlant): number {
  return user.length + textLength(plant);
}

/** Whether a page holds as much text as a page takes. */
export function isFullOfText(page: readonly Plant[]): boolean {
  return page.reduce((length, plant) => length + textLength(plant), 0) >= maxPageText;
}
