import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { minInt64 } from '../../core/model/int64.ts';
import type { Plant } from '../../core/model/plant.ts';
import { countInPage, cutPage, maxPageBytes, maxPageLength, taggedBytes, untaggedBytes } from '../../core/page.ts';
import type { JsonPage, PageRequest } from '../../core/page.ts';
import type { ListRange, OwnedPlant, PlantPage } from '../../core/storage-adapter.ts';

/**
 * An SQL condition: 1000 plants that meet it fit in a page, unless many characters must be escaped. SQLite evaluates it
 * without reading the text.
 */
const isShort = `octet_length(name) + ifnull(octet_length(tag) + ${taggedBytes}, ${untaggedBytes})
  < ${Math.floor(maxPageBytes / maxPageLength)}`;

const plantJson = `CASE WHEN tag IS NULL THEN json_object('name', name) ELSE json_object('name', name, 'tag', tag) END`;

/** Less than every int64. SQLite compares integers with doubles exactly. */
const beforeAll = -Infinity;

const ofUser = 'FROM plants WHERE user = ? AND id > ? ORDER BY id LIMIT';

/**
 * 0 if the limit exceeds 32 and one of the first 32 plants is not short: the page is then read as rows. Otherwise, 1000
 * plants with names of 26 KB would take eight times as long. Without `+ 0`, SQLite would recompile the statement for
 * each execution, which takes a fifth of a list request's CPU time.
 */
const limitIfShort = `
  CASE WHEN ? > 32 AND EXISTS (SELECT 1 FROM (SELECT ${isShort} AS short ${ofUser} 32) WHERE NOT short)
    THEN 0 ELSE ? + 0 END`;

/**
 * Reads a page as one row, which takes half as long as building the JSON in JavaScript. If `count` and `shorts` differ,
 * `json` is incomplete, because it contains only the short plants.
 */
const selectJson = `
  SELECT count, last, shorts, json, octet_length(json),
    count = ? AND EXISTS (SELECT 1 FROM plants WHERE user = ? AND id > last)
  FROM (
    SELECT count(*) AS count, max(id) AS last, count(short) AS shorts, '[' || group_concat(short) || ']' AS json
    FROM (SELECT id, CASE WHEN ${isShort} THEN ${plantJson} END AS short ${ofUser} ${limitIfShort})
  )`;

type JsonRow = readonly [bigint, bigint | null, bigint, string | null, bigint | null, bigint];

/** Only the rows of a scan contain the user. */
type Row = readonly [id: bigint, name: string, tag: string | null, user?: string];

/** Rows are read in steps of this many, so that the read ends soon after long names have filled a page. */
const stepLength = 50;

export class Reader {
  readonly #database: DatabaseSync;
  readonly #selectJson: StatementSync;
  readonly #selectPlants: StatementSync;
  readonly #selectOwned: StatementSync;
  readonly #selectVersion: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#selectJson = prepareSelect(database, selectJson);
    this.#selectPlants = prepareSelect(database, `SELECT id, name, tag ${ofUser} ? + 0`);
    this.#selectOwned = prepareSelect(
      database,
      'SELECT id, name, tag, user FROM plants WHERE (user, id) > (?, ?) ORDER BY user, id LIMIT ? + 0',
    );
    this.#selectVersion = prepareSelect(database, 'PRAGMA data_version');
  }

  list(user: string, { after, limit }: ListRange): PlantPage {
    const most = Math.min(limit, maxPageLength);
    const read = (): Row[] => readRows(this.#selectPlants, [user, after ?? beforeAll], most + 1);
    return cutPage((most < stepLength ? read() : this.#inSnapshot(read)).map(toPlant), most);
  }

  async *scan(): AsyncGenerator<OwnedPlant[]> {
    // Every user is greater than ''.
    for (let [user, after] = ['', minInt64]; ;) {
      const rows = readRows(this.#selectOwned, [user, after], maxPageLength);
      const plants = rows.map(toPlant);
      const page = plants
        .slice(0, countInPage(plants))
        .map((plant, at): OwnedPlant => ({ user: rows[at]?.[3] ?? '', plant }));
      const last = page.at(-1);
      if (last === undefined) return;
      yield page;
      [user, after] = [last.user, last.plant.id];
    }
  }

  /** Returns `undefined` if a plant is not short or the JSON is too long: building such pages in SQL would be slow. */
  listJson({ user, after, limit }: PageRequest): JsonPage | undefined {
    const start = after ?? beforeAll;
    const row = this.#selectJson.get(limit, user, user, start, limit, user, start, limit);
    const [count, last, shorts, json, bytes, hasMore] = row as unknown as JsonRow;
    const isComplete = last !== null && json !== null && shorts === count && Number(bytes) <= maxPageBytes;
    return isComplete ? { json, count: Number(count), lastId: last, hasMore: hasMore === 1n } : undefined;
  }

  /** Changes when another connection commits. */
  dataVersion(): number {
    const [version] = this.#selectVersion.get() as unknown as [bigint];
    return Number(version);
  }

  #inSnapshot<T>(read: () => T): T {
    this.#database.exec('BEGIN');
    try {
      return read();
    } finally {
      this.#database.exec('COMMIT');
    }
  }
}

/** Reads the rows after a key until there are `limit` rows, or more than a page can contain. */
function readRows(statement: StatementSync, [user, after]: [string, bigint | number], limit: number): Row[] {
  const rows: Row[] = [];
  for (let characters = 0; ;) {
    const step = statement.all(user, after, Math.min(limit - rows.length, stepLength)) as unknown as Row[];
    for (const row of step) {
      rows.push(row);
      characters += row[1].length + (row[2]?.length ?? 0);
    }
    const last = step.at(-1);
    if (last === undefined || step.length < stepLength || rows.length === limit || characters >= maxPageBytes) {
      return rows;
    }
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
