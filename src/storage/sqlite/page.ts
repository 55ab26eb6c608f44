import type { StatementSync } from 'node:sqlite';
import { plantJson } from '../../core/model/plant.ts';
import type { StoredPlant } from '../../core/model/plant.ts';
import { maxPageBytes, maxPageLength, toJsonPage } from '../page.ts';
import type { SqliteConnection } from './connection.ts';
import type { JsonPage, OwnedPlant, PlantKey, PlantPage } from '../storage-adapter.ts';

/** A row of the table. Only the rows of a scan contain the user. */
type Row = readonly [id: bigint, name: string, tag: string | null, user?: string];

/**
 * A row from a statement that reads a page of short plants (see `maxShortBytes` in connection.ts). The name is `null`
 * if the plant is not short.
 */
type ShortRow = Row | readonly [id: bigint, name: null, ...unknown[]];

type JsonRow = readonly [count: bigint, last: bigint | null, shortPlants: bigint, json: string | null, hasMore: bigint];

/** Reads a page of a user's plants, starting at the id `from`. */
export function readList(
  { selectShortPlants, selectPlants }: SqliteConnection,
  user: string,
  from: bigint,
  limit: number,
): PlantPage {
  const { items, hasMore } = readPage(selectShortPlants, selectPlants, [user, from], limit, toPlant);
  return { plants: items, hasMore };
}

/** Reads a page of the plants of all users, starting after a key. */
export function readScan(
  { selectShortOwned, selectOwned }: SqliteConnection,
  { user, id }: PlantKey,
  limit: number,
): OwnedPlant[] {
  const toOwned = (row: Row): OwnedPlant => ({ user: row[3] ?? '', plant: toPlant(row) });
  return readPage(selectShortOwned, selectOwned, [user, id], limit, toOwned).items;
}

/** Reads the same page as {@link readList}, as JSON. */
export function readJson(connection: SqliteConnection, user: string, from: bigint, limit: number): JsonPage {
  const row = connection.selectShortJson.get(limit, user, user, from, limit, user, from, limit) as unknown as JsonRow;
  const [count, last, shortPlants, json, hasMore] = row;
  // Even the JSON of short plants can be larger than a page, if many characters have to be escaped.
  if (last !== null && json !== null && shortPlants === count && json.length <= maxPageBytes + maxPageLength) {
    return { json, count: Number(count), last, hasMore: hasMore === 1n };
  }
  const { items, hasMore: isCut } = readRows(connection.selectPlants, [user, from], limit, toPlant);
  return toJsonPage({ plants: items, hasMore: isCut });
}

/**
 * Reads a page as a snapshot: a single statement reads all of its plants.
 *
 * The `short` statement, for pages of short plants, runs first. It reads all rows at once, which takes half as long as
 * reading them one by one. If a plant in the page is not short, the page may be full before it contains `limit` plants.
 * The `any` statement then reads the rows one by one until the page is full.
 */
function readPage<Item>(
  short: StatementSync,
  any: StatementSync,
  key: [string, bigint],
  limit: number,
  toItem: (row: Row) => Item,
): { items: Item[]; hasMore: boolean } {
  const most = Math.min(limit, maxPageLength);
  const found = mapShort(short.all(...key, most + 1, ...key, most + 1) as unknown as ShortRow[], toItem);
  if (found !== undefined) return { items: found.slice(0, most), hasMore: found.length > most };
  return readRows(any, key, most, toItem);
}

/** Reads a page row by row until it is full. */
function readRows<Item>(
  statement: StatementSync,
  key: [string, bigint],
  limit: number,
  toItem: (row: Row) => Item,
): { items: Item[]; hasMore: boolean } {
  const items: Item[] = [];
  let bytes = 0;
  for (const row of statement.iterate(...key, limit + 1) as unknown as Iterable<Row>) {
    if (items.length === limit || bytes >= maxPageBytes) return { items, hasMore: true };
    items.push(toItem(row));
    bytes += Buffer.byteLength(plantJson(toPlant(row)));
  }
  return { items, hasMore: false };
}

/**
 * Converts a page of short plants to items. Returns `undefined` if a plant is not short. If one of the first plants is
 * not short, the statement returns no rows, so the function also returns `undefined` for an empty result.
 */
function mapShort<Item>(rows: readonly ShortRow[], toItem: (row: Row) => Item): Item[] | undefined {
  const items: Item[] = [];
  for (const row of rows) {
    if (!isShort(row)) return undefined;
    items.push(toItem(row));
  }
  return items.length === 0 ? undefined : items;
}

function isShort(row: ShortRow): row is Row {
  return row[1] !== null;
}

function toPlant([id, name, tag]: Row): StoredPlant {
  return tag === null ? { id, name } : { id, name, tag };
}
