import { minInt64 } from '../../model/int64.ts';
import type { PlantId } from '../../model/plant.ts';
import { emptyPage } from '../json-page.ts';
import { maxPageBytes } from '../page-bounds.ts';
import type { JsonPage } from '../storage-adapter.ts';
import { runStatement } from './pool.ts';
import type { PostgresPool } from './pool.ts';
import type { PageRequest } from './read-group.ts';
import type { PageRow } from './statements.ts';

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
 * Reads pages with one statement. Returns `undefined` for each page that may be full before it contains `limit` plants.
 */
export async function readPages(
  pool: PostgresPool,
  statement: string,
  requests: readonly PageRequest[],
): Promise<(JsonPage | undefined)[]> {
  const share = maxStatementBytes / requests.reduce((sum, { limit }) => sum + limit, 0);
  const rows = (await runStatement(pool, statement, [
    requests.map(({ user }) => user),
    requests.map(({ after }) => String(firstId(after))),
    requests.map(({ limit }) => limit),
    requests.map(({ limit }) => Math.floor(Math.min(share, maxReadBytes / limit))),
  ])) as PageRow[];
  const pages = new Map(rows.map((row) => [Number(row.nth), row]));
  return requests.map(({ limit }, n) => pageOf(pages.get(n + 1), limit));
}

/**
 * Returns the smallest id greater than `after`, or the smallest int64 if `after` is `undefined`. If `after` is the
 * largest int64, the result is greater than every int64.
 */
export function firstId(after: PlantId | undefined): PlantId {
  return after === undefined ? minInt64 : after + 1n;
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
