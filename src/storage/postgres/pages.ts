import { maxInt64 } from '../../core/model/int64.ts';
import { emptyPage, maxPageBytes, toJsonPage } from '../page.ts';
import type { JsonPage, PageRequest } from '../storage-adapter.ts';
import { runStatement } from './pool.ts';
import type { PostgresPool } from './pool.ts';
import { firstId, listPlants } from './rows.ts';
import type { PageRow, PostgresStatements } from './statements.ts';

/** The maximum total size of the plants that a statement reads, in bytes. */
const maxStatementBytes = 8 * maxPageBytes;
/** The maximum total size of the plants that a statement reads for one page, in bytes. */
const maxReadBytes = 3 * maxPageBytes;

/**
 * The start of every plant except the first in the JSON of a page, including the comma before the plant. This text
 * cannot occur in a name or tag, because JSON escapes quotation marks in strings.
 */
const plantStart = ',{"name":';

/**
 * The limit below which a single page is read with the statement for rows, because this statement is then faster than
 * the statement for several pages.
 */
const maxFew = 100;

/**
 * Reads pages as JSON. Compared with one statement per page, reading them with one statement reduces the CPU time of
 * Node.js to a fifth and that of PostgreSQL to a third (64 clients, pages of 20 plants).
 */
export async function readJsonPages(
  pool: PostgresPool,
  statements: PostgresStatements,
  requests: readonly PageRequest[],
): Promise<JsonPage[]> {
  const isFew = requests.length === 1 && requests.every(({ limit }) => limit < maxFew);
  const pages = isFew ? [] : await readTogether(pool, statements.pages, requests);
  return Promise.all(
    requests.map(
      async ({ user, ...range }, n) => pages[n] ?? toJsonPage(await listPlants(pool, statements.list, user, range)),
    ),
  );
}

/**
 * Reads pages with one statement. Returns `undefined` for each page that may be full before it contains `limit` plants.
 */
async function readTogether(
  pool: PostgresPool,
  statement: string,
  requests: readonly PageRequest[],
): Promise<(JsonPage | undefined)[]> {
  const share = maxStatementBytes / requests.reduce((sum, { limit }) => sum + limit, 0);
  const wanted = requests.filter(({ after }) => firstId(after) <= maxInt64);
  const rows = (await runStatement(pool, statement, [
    wanted.map(({ user }) => user),
    wanted.map(({ after }) => String(firstId(after))),
    wanted.map(({ limit }) => limit),
    wanted.map(({ limit }) => Math.floor(Math.min(share, maxReadBytes / limit))),
  ])) as PageRow[];
  const pages = new Map(rows.map((row) => [wanted[Number(row.nth) - 1], row]));
  return requests.map((request) => pageOf(pages.get(request), request.limit));
}

function pageOf(row: PageRow | undefined, limit: number): JsonPage | undefined {
  if (row?.last === null) return emptyPage;
  if (row === undefined || row.json === null) return undefined;
  const { last, json } = row;
  const count = Number(row.count);
  const hasMore = count > limit;
  const plants = hasMore ? json.slice(0, json.lastIndexOf(plantStart)) : json;
  return { json: `[${plants}]`, count: hasMore ? limit : count, last: BigInt(last), hasMore };
}
