import { minInt64 } from './model/int64.ts';
import type { PlantId } from './model/plant.ts';
import type { OwnedPlant, PlantKey } from './storage-adapter.ts';

/** A key that is less than the key of every plant, because a user is never an empty string. */
export const beforeAll: PlantKey = { user: '', id: minInt64 };

/**
 * Returns the smallest id greater than `after`, or the smallest int64 if `after` is `undefined`. If `after` is the
 * largest int64, the result is greater than every int64.
 */
export function firstId(after: PlantId | undefined): PlantId {
  return after === undefined ? minInt64 : after + 1n;
}

/** Compares plants in the order of `StorageAdapter.scan`: by user, then by id. */
export function compareOwned(a: OwnedPlant, b: OwnedPlant): number {
  const order = compareUsers(a.user, b.user);
  if (order !== 0 || a.plant.id === b.plant.id) return order;
  return a.plant.id < b.plant.id ? -1 : 1;
}

/**
 * Compares users by their UTF-8 bytes. The order of UTF-8 bytes is the same as the order of code points. The `<`
 * operator compares UTF-16 code units, so it would sort U+10000 and above, which are encoded as surrogates, before
 * U+E000 to U+FFFF.
 */
export function compareUsers(a: string, b: string): number {
  if (a === b) return 0;
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const [left, right] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

/** Maps surrogates to values that are greater than all other code units. */
function rank(codeUnit: number): number {
  return codeUnit >= 0xd800 && codeUnit <= 0xdfff ? codeUnit + 0x10000 : codeUnit;
}
