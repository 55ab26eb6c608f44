import type { StatementSync } from 'node:sqlite';
import type { StoredPlant } from '../../model/plant.ts';
import { emptyPage } from '../json-page.ts';
import { maxPageBytes, maxPageLength, taggedBytes, untaggedBytes } from '../page-bounds.ts';
import type { SqliteConnection } from './connection.ts';
import { fromColumn } from './text.ts';
import type { JsonPage, OwnedPlant, PlantKey } from '../storage-adapter.ts';

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
): StoredPlant[] {
  return readPage(selectShortPlants, selectPlants, [user, from], limit, toPlant);
}

/** Reads a page of the plants of all users, starting after a key. */
export function readScan(
  { selectShortOwned, selectOwned }: SqliteConnection,
  { user, id }: PlantKey,
  limit: number,
): OwnedPlant[] {
  return readPage(selectShortOwned, selectOwned, [user, id], limit, (row) => ({
    user: row[3] ?? '',
    plant: toPlant(row),
  }));
}

/** Reads the same page as {@link readList}, as JSON. */
export function readJson(
  { selectShortJson, selectPlants }: SqliteConnection,
  user: string,
  from: bigint,
  limit: number,
): JsonPage {
  const row = selectShortJson.get(limit, user, user, from, limit, user, from, limit) as unknown as JsonRow;
  const [count, last, shortPlants, json, hasMore] = row;
  if (last !== null && json !== null && shortPlants === count) {
    return { json, count: Number(count), last, hasMore: hasMore === 1n };
  }
  return joinRows(selectPlants.iterate(user, from, limit + 1) as unknown as Iterable<Row>, limit);
}

/**
 * Reads a page as a snapshot: a single statement reads all of its plants.
 *
 * The `short` statement, for pages of short plants, runs first. It reads all rows at once, which takes half as long as
 * reading them one by one. If a plant of the page is not short, the page may be full before it contains `limit` plants.
 * The `any` statement then reads the rows one by one until the page is full.
 */
function readPage<Item>(
  short: StatementSync,
  any: StatementSync,
  key: [string, bigint],
  limit: number,
  toItem: (row: Row) => Item,
): Item[] {
  if (limit <= maxPageLength) {
    const items = mapShort(short.all(...key, limit, ...key, limit) as unknown as ShortRow[], toItem);
    if (items !== undefined) return items;
  }
  const items: Item[] = [];
  let bytes = 0;
  for (const row of any.iterate(...key, limit) as unknown as Iterable<Row>) {
    items.push(toItem(row));
    bytes += bytesOf(row);
    if (bytes >= maxPageBytes) break;
  }
  return items;
}

/**
 * Converts the rows from a statement that reads a page of short plants to items. Returns `undefined` if a plant is not
 * short. Also returns `undefined` if there are no rows, because the statement returns no rows if one of the first
 * plants is not short.
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
  return tag === null ? { id, name: fromColumn(name) } : { id, name: fromColumn(name), tag: fromColumn(tag) };
}

/** Builds a page as JSON from at most `limit` rows. If another row follows, sets `hasMore`. */
function joinRows(rows: Iterable<Row>, limit: number): JsonPage {
  const plants: string[] = [];
  let last: bigint | undefined;
  let bytes = 0;
  const pageOf = (hasMore: boolean): JsonPage => ({
    json: `[${plants.join(',')}]`,
    count: plants.length,
    last,
    hasMore,
  });
  for (const row of rows) {
    if (plants.length === limit || bytes >= maxPageBytes) return pageOf(true);
    const [id, name, tag] = row;
    plants.push(tag === null ? `{"name":"${name}"}` : `{"name":"${name}","tag":"${tag}"}`);
    last = id;
    bytes += bytesOf(row);
  }
  return last === undefined ? emptyPage : pageOf(false);
}

/** Returns the size of a plant's JSON in bytes. The columns contain JSON-escaped text. */
function bytesOf([, name, tag]: Row): number {
  return Buffer.byteLength(name) + (tag === null ? untaggedBytes : Buffer.byteLength(tag) + taggedBytes);
}
