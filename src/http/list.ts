import { PlantStoreError } from '../core/model/errors.ts';
import { int64FromText } from '../core/model/plant.ts';
import type { PlantId } from '../core/model/plant.ts';
import { maxPageLength } from '../core/page.ts';
import type { JsonPage } from '../core/page.ts';
import type { ListOptions } from '../core/plant-store.ts';
import type { Pages, Result } from './exchange.ts';
import type { ServiceStore } from './options.ts';

/**
 * Lists plants. With a limit of at most 1000, the body is one page, with a `Link` header (RFC 8288) if more plants
 * follow. Otherwise, a body of several pages is read while it is sent.
 */
export async function readList(store: ServiceStore, user: string, query: ListOptions, path: string): Promise<Result> {
  const { limit } = query;
  const page = await store.listPageJson(user, query);
  if (!page.hasMore) return { status: 200, body: bodyOf(page.json) };
  if (limit === undefined || limit > maxPageLength) {
    return { status: 200, body: pagesFrom(store, user, partOf(page, '['), limit ?? Infinity) };
  }
  const link = `<${path}?limit=${limit}&after=${page.lastId ?? ''}>; rel="next"`;
  return { status: 200, headers: { Link: link }, body: bodyOf(page.json) };
}

/** The minimum length of a long page, in UTF-16 code units. */
const longPage = 65_536;

/** Returns a long page as bytes, because a Buffer does not take V8 heap space while a slow client reads it. */
function bodyOf(json: string): string | Buffer<ArrayBuffer> {
  return json.length < longPage ? json : Buffer.from(json);
}

/** A page of a long list. */
interface Part extends Omit<JsonPage, 'json'> {
  /** The plants after `[` or `,`, without the closing bracket. */
  readonly bytes: Buffer<ArrayBuffer>;
}

/** Replaces the opening bracket of a page with `start`, and omits the closing bracket. */
function partOf({ json, count, lastId, hasMore }: JsonPage, start: '[' | ','): Part {
  const bytes = Buffer.from(json);
  bytes.write(start);
  return { bytes: bytes.subarray(0, -1), count, lastId, hasMore };
}

/** Yields the pages of a list as one JSON array. Each page is read only after the previous page has been sent. */
async function* pagesFrom(store: ServiceStore, user: string, part: Part, limit: number): Pages {
  let left = limit;
  for (;;) {
    if (part.count > 0) yield part.bytes;
    left -= part.count;
    if (!part.hasMore || left <= 0) break;
    const range = { after: part.lastId, limit: left === Infinity ? undefined : left };
    part = partOf(await store.listPageJson(user, range), ',');
  }
  yield Buffer.from(']');
}

/** Parses the query string of a list request, without its `?`. The store checks the range of `limit`. */
export function parseListQuery(query: string): ListOptions {
  // URLSearchParams needs more CPU time, and most queries contain only a limit.
  const [, limit] = /^limit=(\d+)$/.exec(query) ?? [];
  if (limit !== undefined) return { limit: Number(limit), after: undefined };
  // URLSearchParams removes one leading `?`. A second `?` belongs to the name of the first parameter.
  const parameters = new URLSearchParams(`?${query}`);
  return { limit: parseLimit(parameters.getAll('limit')), after: parseAfter(parameters.getAll('after')) };
}

function parseLimit([text, ...more]: string[]): number | undefined {
  if (text === undefined) return undefined;
  if (more.length > 0 || !/^\d+$/.test(text)) throw new PlantStoreError('invalid_limit');
  return Number(text);
}

function parseAfter([text, ...more]: string[]): PlantId | undefined {
  if (text === undefined) return undefined;
  const after = int64FromText(text);
  if (more.length > 0 || after === undefined) throw new PlantStoreError('invalid_after');
  return after;
}
