import { PlantStoreError } from '../core/model/errors.ts';
import { int64FromText, minInt64 } from '../core/model/int64.ts';
import { plantsJson } from '../core/model/plant.ts';
import type { PlantId } from '../core/model/plant.ts';
import type { JsonPage } from '../core/page.ts';
import type { PlantStore } from '../core/plant-store.ts';
import type { Answer, HeaderList } from './answer.ts';
import { HttpError } from './http-error.ts';
import type { ServiceRequest } from './service-request.ts';

/** The query parameters of a list request. They select a range of the user's plants. */
export interface ListQuery {
  readonly limit: number | undefined;
  readonly after: PlantId | undefined;
}

export interface ListRequest extends ListQuery {
  readonly request: Pick<ServiceRequest, 'isOpen'>;
  readonly user: string;
  /** The path for the `Link` header. */
  readonly path: string;
}

/** A list request whose limit exceeds one page. */
type LongListRequest = ListRequest & { readonly limit: number };

/**
 * Returns the answer to a getPlants request: a JSON array of plants in ascending order of id. A list that is longer
 * than one page is read page by page while it is sent, so memory use does not depend on its length.
 *
 * @throws {PlantStoreError} any error that the store throws.
 */
export async function listAnswer(store: PlantStore, list: ListRequest): Promise<Answer> {
  const { user, limit, after, path } = list;
  const first = await store.listPageJson(user, { limit, after });
  if (!first.hasMore) return { status: 200, body: first.json };
  if (first.count === limit) return { status: 200, headers: nextLink(path, limit, first.last), body: first.json };
  if (limit === undefined) return { status: 200, body: allPages(store, user, first) };
  const { last, hasMore } = await findEnd(store, { ...list, limit }, first);
  const headers = hasMore ? nextLink(path, limit, last) : [];
  return { status: 200, headers, body: pagesUpTo(store, { ...list, limit }, last) };
}

/** Yields the given page, then all pages after it. Each page is read only after the previous page has been sent. */
async function* allPages(store: PlantStore, user: string, page: JsonPage): AsyncGenerator<string, void, undefined> {
  yield withoutEnd(page);
  while (page.hasMore) {
    // The parameter is overwritten so that the first page can be garbage-collected.
    page = await store.listPageJson(user, { after: page.last });
    if (page.count > 0) yield continued(page);
  }
  yield ']';
}

/**
 * Returns the JSON of a list's first page without the closing bracket. The slice shares its memory with the page, which
 * might also be in the cache.
 */
function withoutEnd({ json }: JsonPage): string {
  return json.slice(0, -1);
}

/** Returns the JSON of a later page, with a comma instead of the opening bracket and without the closing bracket. */
function continued({ json }: JsonPage): string {
  return `,${json.slice(1, -1)}`;
}

/**
 * Finds the last plant of a list that is longer than one page. The `Link` header contains this plant's id and is sent
 * before the plants. The list is read, but its plants are not kept.
 *
 * @throws {HttpError} `malformed_request` if the client disconnects.
 */
async function findEnd(
  store: PlantStore,
  { request, user, limit }: LongListRequest,
  first: JsonPage,
): Promise<{ last: PlantId; hasMore: boolean }> {
  let { last = minInt64, hasMore, count } = first;
  while (hasMore && count < limit) {
    if (!request.isOpen) throw new HttpError('malformed_request');
    const page = await store.listPageJson(user, { after: last, limit: limit - count });
    last = page.last ?? last;
    hasMore = page.hasMore;
    count += page.count;
  }
  return { last, hasMore };
}

/**
 * Yields the pages of a list, up to and including the plant with the id `last`.
 *
 * @throws {Error} if the list would exceed its limit, because plants have been created in its range since its end was
 *   found. The response is then cut off. If the response ended normally, the client would miss plants.
 */
async function* pagesUpTo(
  store: PlantStore,
  { user, limit, after }: LongListRequest,
  last: PlantId,
): AsyncGenerator<string, void, undefined> {
  let left = limit;
  let position = after;
  let isEmpty = true;
  for (let hasMore = true; hasMore && position !== last;) {
    if (left === 0) throw new Error('Plants were created in the range of the list while it was being sent');
    const page = await pageUpTo(store, user, { after: position, limit: left }, last);
    if (page.count > 0) yield isEmpty ? withoutEnd(page) : continued(page);
    isEmpty &&= page.count === 0;
    left -= page.count;
    position = page.last;
    hasMore = page.hasMore;
  }
  yield isEmpty ? '[]' : ']';
}

/**
 * Reads a page, but omits all plants with ids greater than `last`. The page can contain such plants if other plants
 * have been deleted since `last` was found.
 */
async function pageUpTo(
  store: PlantStore,
  user: string,
  range: { after: PlantId | undefined; limit: number },
  last: PlantId,
): Promise<JsonPage> {
  const page = await store.listPageJson(user, range);
  if (page.last === undefined || page.last <= last) return page;
  const plants = await store.listPlants(user, { ...range, limit: page.count });
  const wanted = plants.filter(({ id }) => id <= last);
  // If plants have been created since the page was read, the second read might not go beyond `last`.
  const hasMore = wanted.length === page.count;
  return { json: plantsJson(wanted), count: wanted.length, last: hasMore ? wanted.at(-1)?.id : last, hasMore };
}

/**
 * Returns the `Link` header (RFC 8288) for a list that is truncated by its limit. The header links to the plants after
 * `last`.
 */
function nextLink(path: string, limit: number, last: PlantId | undefined): HeaderList {
  return ['Link', `<${path}?limit=${limit}&after=${last ?? ''}>; rel="next"`];
}

/**
 * Matches a query string in the form that `Link` headers use. Parsing such a string with URLSearchParams would increase
 * the cost of a request by a tenth.
 */
const plainQuery = /^limit=(\d{1,9})(?:&after=(-?\d{1,18}))?$/;

/**
 * Parses the query string of a getPlants request. The string does not include the `?`. The store checks the range of
 * `limit`.
 *
 * @throws {PlantStoreError} `invalid_limit` or `invalid_after`.
 */
export function parseListQuery(query: string): ListQuery {
  if (query === '') return { limit: undefined, after: undefined };
  const plain = plainQuery.exec(query);
  if (plain !== null) return { limit: Number(plain[1]), after: plain[2] === undefined ? undefined : BigInt(plain[2]) };
  // URLSearchParams removes a leading `?`, so one is added here. If the query itself begins with a `?`, that `?` is
  // therefore kept as part of the first parameter's name.
  const parameters = new URLSearchParams(`?${query}`);
  return { limit: parseLimit(parameters.getAll('limit')), after: parseAfter(parameters.getAll('after')) };
}

function parseLimit(texts: string[]): number | undefined {
  const [text] = texts;
  if (text === undefined) return undefined;
  if (texts.length > 1 || !/^\d+$/.test(text)) throw new PlantStoreError('invalid_limit');
  return Number(text);
}

function parseAfter(texts: string[]): PlantId | undefined {
  const [text] = texts;
  if (text === undefined) return undefined;
  const after = int64FromText(text);
  if (texts.length > 1 || after === undefined) throw new PlantStoreError('invalid_after');
  return after;
}
