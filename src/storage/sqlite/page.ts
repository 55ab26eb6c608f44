import type { StatementSync } from 'node:sqlite';
import { plantJson } from '../../core/model/plant.ts';
import type { Plant } from '../../core/model/plant.ts';
import { maxPageBytes, maxPageLength, toJsonPage } from '../../core/page.ts';
import type { SqliteConnection } from './connection.ts';
import type { JsonPage } from '../../core/page.ts';
import type { OwnedPlant, PlantPage } from '../../core/storage-adapter.ts';

/** A row of the table. Only the rows of a scan contain the user. */
type Row = readonly [id: bigint, name: string, tag: string | null, user?: string];

type JsonRow = readonly [count: bigint, last: bigint | null, shortPlants: bigint, json: string | null, hasMore: bigint];

/** Reads a page of a user's plants, starting at the id `from`. */
export function readList({ selectPlants }: SqliteConnection, user: string, from: bigint, limit: number): PlantPage {
  const { items, hasMore } = readRows(selectPlants, [user, from], limit, toPlant);
  return { plants: items, hasMore };
}

/** Reads a page of the plants of all users, starting after a key. */
export function readScan({ selectOwned }: SqliteConnection, user: string, id: bigint, limit: number): OwnedPlant[] {
  const toOwned = (row: Row): OwnedPlant => ({ user: row[3] ?? '', plant: toPlant(row) });
  return readRows(selectOwned, [user, id], limit, toOwned).items;
}

/** Reads the same page as {@link readList}, but returns it as JSON. */
export function readJson(connection: SqliteConnection, user: string, from: bigint, limit: number): JsonPage {
  const row = connection.selectJson.get(limit, user, user, from, limit, user, from, limit) as unknown as JsonRow;
  const [count, last, shortPlants, json, hasMore] = row;
  // If many characters must be escaped, the JSON can be larger than a page, even if all plants are short.
  if (last !== null && json !== null && shortPlants === count && json.length <= maxPageBytes + maxPageLength) {
    return { json, count: Number(count), last, hasMore: hasMore === 1n };
  }
  return toJsonPage(readList(connection, user, from, limit));
}

/** Reads rows until the page is full. The page is a snapshot, because a single statement reads all rows. */
function readRows<Item>(
  statement: StatementSync,
  key: [string, bigint],
  limit: number,
  toItem: (row: Row) => Item,
): { items: Item[]; hasMore: boolean } {
  const most = Math.min(limit, maxPageLength);
  const items: Item[] = [];
  let bytes = 0;
  for (const row of statement.iterate(...key, most + 1) as unknown as Iterable<Row>) {
    if (items.length === most || bytes >= maxPageBytes) return { items, hasMore: true };
    items.push(toItem(row));
    bytes += Buffer.byteLength(plantJson(toPlant(row)));
  }
  return { items, hasMore: false };
}

function toPlant([id, name, tag]: Row): Plant {
  return tag === null ? { id, name } : { id, name, tag };
}
