import type { StatementSync } from 'node:sqlite';
import type { StoredPlant } from '../../model/plant.ts';
import { emptyPage } from '../json-page.ts';
import { maxPageBytes, maxPageLength, taggedBytes, untaggedBytes } from '../page-bounds.ts';
import type { SqliteConnection } from './connection.ts';
import { fromColumn } from './text.ts';
import type { JsonPage, OwnedPlant, PlantKey } from '../storage-adapter.ts';

/** A plant in the form of the table's columns. A scan adds the user. */
type Row = readonly [id: bigint, name: string, tag: string | null, user?: string];

/** A row returned by a statement for short plants. The name is `null` if the plant is not short. */
type ShortRow = Row | readonly [id: bigint, name: null, ...unknown[]];

type JsonRow = readonly [count: bigint, last: bigint | null, shortPlants: bigint, json: string | null, hasMore: bigint];

/** Reads a page of a user's plants with an id of at least `from`. */
export function readList(
  { selectShortPlants, selectPlants }: SqliteConnection,
  user: string,
  from: bigint,
  limit: number,
): StoredPlant[] {
  return readPage(selectShortPlants, selectPlants, [user, from], limit, toPlant);
}

/** Reads a page of the plants of all users after a key. */
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

/** Reads the same page as `readList`, as JSON. */
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
 * Reads a page in one statement, and so from one snapshot. If all plants are short, they cannot fill a page, so all
 * rows are read at once, in half the time. Otherwise rows are read one by one, so that no row after the page is read.
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

/** Converts rows to items. Returns `undefined` if there are no rows or if a plant is not short. */
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

/** Builds the JSON of rows up to the limit. A row after the limit is not included, but sets `hasMore`. */
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

/** Returns the size in bytes of a plant's JSON. The columns hold strings in their JSON form. */
function bytesOf([, name, tag]: Row): number {
  return Buffer.byteLength(name) + (tag === null ? untaggedBytes : Buffer.byteLength(tag) + taggedBytes);
}
