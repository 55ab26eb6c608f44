import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Plant } from '../../core/model/plant.ts';
import { cutPage, maxPageBytes, maxPageLength, scanPages } from '../../core/page.ts';
import type { ListRange, OwnedPlant, PlantPage } from '../../core/storage-adapter.ts';
import { inTransaction } from './database.ts';

/** Less than every int64. SQLite compares integers with doubles exactly. */
const beforeAll = -Infinity;

const ofUser = 'FROM plants WHERE user = ? AND id > ? ORDER BY id LIMIT';

/** Only the rows of a scan contain the user. */
type Row = readonly [id: bigint, name: string, tag: string | null, user?: string];

/** A page is read in steps of this many rows, so that reading ends soon after long names fill the page. */
const stepRows = 32;

export class Reader {
  readonly #database: DatabaseSync;
  readonly #selectPlants: StatementSync;
  readonly #selectOwned: StatementSync;
  readonly #selectVersion: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#selectPlants = prepareSelect(database, `SELECT id, name, tag ${ofUser} ? + 0`);
    this.#selectOwned = prepareSelect(
      database,
      'SELECT id, name, tag, user FROM plants WHERE (user, id) > (?, ?) ORDER BY user, id LIMIT ? + 0',
    );
    this.#selectVersion = prepareSelect(database, 'PRAGMA data_version');
  }

  list(user: string, { after, limit }: ListRange): PlantPage {
    const read = (): Plant[] => readSteps(this.#selectPlants, toPlant, [user, after ?? beforeAll], limit + 1);
    // Only steps that run in one transaction read the same snapshot.
    return cutPage(limit < stepRows ? read() : inTransaction(this.#database, 'DEFERRED', read), limit);
  }

  scan(): AsyncIterable<OwnedPlant[]> {
    return scanPages((user, after) => readSteps(this.#selectOwned, toOwnedPlant, [user, after], maxPageLength));
  }

  /** Changes when another connection commits. */
  dataVersion(): number {
    const [version] = this.#selectVersion.get() as unknown as [bigint];
    return Number(version);
  }
}

/** Reads the plants after a key until there are `limit` plants, or more than a page can contain. */
function readSteps<Item>(
  statement: StatementSync,
  toItem: (row: Row) => Item,
  [user, after]: [string, bigint | number],
  limit: number,
): Item[] {
  const items: Item[] = [];
  for (let characters = 0; ;) {
    const most = Math.min(limit - items.length, stepRows);
    const rows = statement.all(user, after, most) as unknown as Row[];
    for (const row of rows) {
      items.push(toItem(row));
      characters += row[1].length + (row[2]?.length ?? 0);
    }
    const last = rows.at(-1);
    const isEnough = items.length === limit || characters >= maxPageBytes;
    if (last === undefined || rows.length < most || isEnough) return items;
    [user, after] = [last[3] ?? user, last[0]];
  }
}

function toPlant([id, name, tag]: Row): Plant {
  return tag === null ? { id, name } : { id, name, tag };
}

function toOwnedPlant(row: Row): OwnedPlant {
  return { user: row[3] ?? '', plant: toPlant(row) };
}

function prepareSelect(database: DatabaseSync, sql: string): StatementSync {
  const statement = database.prepare(sql);
  // Node.js 22 ignores the corresponding options of `prepare()`.
  statement.setReadBigInts(true);
  statement.setReturnArrays(true);
  return statement;
}
