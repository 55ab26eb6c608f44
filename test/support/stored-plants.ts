import { maxInt64, minInt64 } from '../../src/core/model/plant.ts';
import type { OwnedPlant, PlantStore } from '../../src/index.ts';
import { SqliteStorage } from '../../src/storage/sqlite/sqlite-storage.ts';
import { createEach, plantOf } from '../../src/testing/plants.ts';
import { scanAll } from '../../src/testing/checked-adapter.ts';

export { scanAll };

/** Names that a program with a bug might misinterpret. PostgresStorage separates names and tags with U+007F. */
const hostileTexts = [
  ...['', ' ', '"', '\\', '\\n', '\n', '\r\n', '\t\u0001\u001b[2J\u007f\u0085\u2028', '{"user":"eve"}'],
  ...['\u{1F33F}', '\uFEFF', '\uFFFD', 'null', 'é'],
  ...['\x7f', '\x7f,', '\x7f:', '\x7f;'].flatMap((separator) => [separator, `a${separator}b`]),
];
const extremeIds = [minInt64, -(2n ** 53n) - 1n, -1n, 0n, 2n ** 53n, 2n ** 53n + 1n, maxInt64 - 1n, maxInt64];

/** Plants with hostile users, hostile names and extreme ids, in the order of a scan. */
export const hostilePlants: readonly OwnedPlant[] = ['\n', '"; rm', 'Ada', 'ada', '\uFFFD', '\u{1F33F}'].flatMap(
  (user) => [
    ...extremeIds.slice(0, 4).map((id) => plantOf(user, id, `plant ${id}`)),
    ...hostileTexts.map((text, n) => plantOf(user, n + 1, text, n % 2 === 0 ? text : undefined)),
    ...extremeIds.slice(4).map((id) => plantOf(user, id, 'x', '')),
  ],
);

/** Returns plants of a user, with ids from 0. */
export function rowOfPlants(user: string, count: number, name?: string): OwnedPlant[] {
  return Array.from({ length: count }, (_, n) => plantOf(user, n, name ?? `plant number ${n}`));
}

/** Creates plants of a user in a store, with ids from 0. By default, each plant's name is its id. */
export async function createPlants(store: PlantStore, count: number, name?: string, user = 'ada'): Promise<void> {
  for (let at = 0; at < count; at += 5000) {
    const ids = Array.from({ length: Math.min(5000, count - at) }, (_, n) => at + n);
    await Promise.all(ids.map((id) => store.createPlant(user, { id, name: name ?? `${id}` })));
  }
}

/** Creates plants of ada that take 40 MB, more than socket buffers hold. Each plant fills a page of a list. */
export function createLongList(store: PlantStore): Promise<void> {
  return createPlants(store, 160, 'x'.repeat(250_000));
}

export async function createAll(file: string, plants: readonly OwnedPlant[]): Promise<void> {
  const storage = new SqliteStorage(file);
  for (let at = 0; at < plants.length; at += 10_000) await storage.commit(createEach(plants.slice(at, at + 10_000)));
  await storage.close();
}

/** Returns all plants in an SQLite file, in the order of a scan. */
export async function readAll(file: string): Promise<OwnedPlant[]> {
  const storage = new SqliteStorage(file);
  const found = await scanAll(storage);
  await storage.close();
  return found;
}
