import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Plant } from '../../core/model/plant.ts';
import { cutPage, maxPageBytes, maxPageLength } from '../../core/page.ts';
import type { ListRange, OwnedPlant, PlantPage } from '../../core/storage-adapter.ts';
import { scanPages } from '../../core/scan-pages.ts';
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
    const read = (): Row[] => readRows(this.#selectPlants, [user, after ?? beforeAll], limit + 1);
    // Only steps that run in one transaction read the same snapshot.
    const rows = limit < stepRows ? read() : inTransaction(this.#database, 'DEFERRED', read);
    return cutPage(rows.map(toPlant), limit);
  }

  scan(): AsyncIterable<OwnedPlant[]> {
    return scanPages((user, after) =>
      readRows(this.#selectOwned, [user, after], maxPageLength).map((row) => ({
        user: row[3] ?? '',
        plant: toPlant(row),
      })),
    );
  }

  /** Changes when another connection commits. */
  dataVersion(): number {
    const [version] = this.#selectVersion.get() as unknown as [bigint];
    return Number(version);
  }
}

/** Reads the rows after a key until there are `limit` rows, or more than a page can contain. */
function readRows(statement: StatementSync, [user, after]: [string, bigint | number], limit: number): Row[] {
  const rows: Row[] = [];
  for (let characters = 0; ;) {
    const most = Math.min(limit - rows.length, stepRows);
    const step = statement.all(user, after, most) as unknown as Row[];
    for (const row of step) {
      rows.push(row);
      characters += row[1].length + (row[2]?.length ?? 0);
    }
    const last = step.at(-1);
    const isEnough = rows.length === limit || characters >= maxPageBytes;
    if (last === undefined || step.length < most || isEnough) return rows;
    [user, after] = [last[3] ?? user, last[0]];
  }
}

function toPlant([id, name, tag]: Row): Plant {
  return tag === null ? { id, name } : { id, name, tag };
}

function prepareSelect(database: DatabaseSync, sql: string): StatementSync {
  const statement = database.prepare(sql);
  // Node.js 22 ignores the corresponding options of `prepare()`.
  statement.setReadBigInts(true);
  statement.setReturnArrays(true);
  return statement;
}
