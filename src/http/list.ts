import { PlantStoreError } from '../core/model/errors.ts';
import { int64FromText } from '../core/model/plant.ts';
import type { PlantId } from '../core/model/plant.ts';
import { maxPageLength } from '../core/page.ts';
import type { ListOptions } from '../core/plant-store.ts';
import type { Pages, Result } from './exchange.ts';
import type { ServiceStore } from './options.ts';

/**
 * Lists plants. With a limit of at most 1000, the body is one page, with a `Link` header (RFC 8288) if more plants
 * follow. Otherwise, a body of several pages is read while it is sent.
 */
export async function readList(store: ServiceStore, user: string, query: ListOptions, path: string): Promise<Result> {
  const { limit } = query;
  const { json, count, lastId, hasMore } = await store.listPageJson(user, query);
  if (!hasMore) return { status: 200, body: bodyOf(json) };
  if (limit === undefined || limit > maxPageLength) {
    const left = (limit ?? Infinity) - count;
    return { status: 200, body: pagesFrom(store, user, { bytes: Buffer.from(json).subarray(0, -1), lastId, left }) };
  }
  const link = `<${path}?limit=${limit}&after=${lastId ?? ''}>; rel="next"`;
  return { status: 200, headers: { Link: link }, body: bodyOf(json) };
}

/** The minimum length of a long page, in UTF-16 code units. */
const longPage = 65_536;

/** Returns a long page as bytes, because a Buffer does not take V8 heap space while a slow client reads it. */
function bodyOf(json: string): string | Buffer<ArrayBuffer> {
  return json.length < longPage ? json : Buffer.from(json);
}

/** A page of a long list, as part of a JSON array without its closing bracket. */
interface Part {
  readonly bytes: Buffer<ArrayBuffer>;
  readonly lastId: PlantId | undefined;
  /** The number of plants left to read after this page; 0 if the list is complete. */
  readonly left: number;
}

/** Yields the pages of a list. Each page is read only after the previous page has been sent. */
async function* pagesFrom(store: ServiceStore, user: string, part: Part): Pages {
  for (; part.left > 0; part = await nextPart(store, user, part)) yield part.bytes;
  yield part.bytes;
  yield Buffer.from(']');
}

async function nextPart(store: ServiceStore, user: string, { lastId: after, left }: Part): Promise<Part> {
  const limit = left === Infinity ? undefined : left;
  const { json, count, lastId, hasMore } = await store.listPageJson(user, { after, limit });
  const bytes = Buffer.from(json);
  // The opening bracket becomes a comma, or is omitted if no plants follow.
  bytes.write(',');
  return { bytes: bytes.subarray(Number(count === 0), -1), lastId, left: hasMore ? left - count : 0 };
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
