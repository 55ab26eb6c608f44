import type { Plant } from '../model/plant.ts';

/** The most plants that one read asks a storage for. */
export const maxPageLength = 1000;

/**
 * A page ends with the plant by which the JSON of its plants reaches this many bytes of UTF-8, so that what a
 * list holds in memory is bounded however long names are: see `StorageAdapter.list`.
 */
export const maxPageBytes = 262_144;

/** The bytes of `{"name":""}` and of `{"name":"","tag":""}`, to which the text in JSON is added. */
export const untaggedBytes = 11;
export const taggedBytes = 20;

/** The most bytes that JSON takes for a UTF-16 code unit: `\u0001`. */
const maxCodeUnitBytes = 6;

/**
 * Finds the index after the plant by which these plants fill a page; `undefined` if they do not fill it.
 *
 * A plant counts for the most bytes that its JSON can have. Only when these fill the page, the JSON is made and
 * measured: a thousand plants with short names take 3 µs, and would take 93 µs if each of them was measured.
 */
export function fullPageEnd(plants: readonly Plant[]): number | undefined {
  let measured = 0;
  let measuredBytes = 0;
  let estimatedBytes = 0;
  let end = 0;
  for (const plant of plants) {
    end++;
    estimatedBytes += mostBytes(plant);
    if (measuredBytes + estimatedBytes < maxPageBytes) continue;
    measuredBytes += jsonBytes(plants.slice(measured, end));
    if (measuredBytes >= maxPageBytes) return end;
    measured = end;
    estimatedBytes = 0;
  }
  return undefined;
}

function mostBytes({ name, tag }: Plant): number {
  return tag === undefined
    ? untaggedBytes + name.length * maxCodeUnitBytes
    : taggedBytes + (name.length + tag.length) * maxCodeUnitBytes;
}

/** The bytes of the plants' JSON, without the brackets and commas of the array. */
function jsonBytes(plants: readonly Plant[]): number {
  const array = JSON.stringify(plants.map(({ name, tag }) => ({ name, tag })));
  return Buffer.byteLength(array) - plants.length - 1;
}
