import { PlantStoreError } from '../model/errors.ts';
import { int64FromText } from '../model/int64.ts';
import { pageTurn } from '../store/list-scheduler.ts';
import type { PlantId } from '../model/plant.ts';
import { plantPageJson } from '../store/plant-store.ts';
import type { PlantStore } from '../store/plant-store.ts';
import type { JsonPage } from '../storage/storage-adapter.ts';
import type { Answer } from './answer.ts';
import type { LongLists } from './long-lists.ts';

/** The query parameters of a list request. They select a range of the user's plants. */
export interface ListQuery {
  readonly limit: number | undefined;
  readonly after: PlantId | undefined;
}

/** The query parameters of a list request, and other data about the request. */
export interface PlantListRequest extends ListQuery {
  readonly user: string;
  /** The path for the `Link` header. */
  readonly path: string;
  /** Whether the method is HEAD. The response to HEAD has no body. */
  readonly isHead: boolean;
  /** Returns whether the client has disconnected. */
  readonly isClientGone: () => boolean;
}

/**
 * Returns the answer to a getPlants request: a JSON array of plants in ascending order of id. `first` is the first page
 * of the list. Memory use does not depend on the length of the list, unless the limit is larger than one page: {@link
 * LongLists} then holds the ids of the plants. With such a limit, the response to HEAD does not contain a `Link`
 * header, because the last id is known only after the whole list has been read (RFC 9110 §9.3.2).
 *
 * @throws {PlantStoreError} `saturated`, or any error that the store throws.
 */
export async function plantListAnswer(
  store: PlantStore,
  longLists: LongLists,
  first: JsonPage,
  request: PlantListRequest,
): Promise<Answer> {
  const { user, limit, path } = request;
  if (!first.hasMore) return { status: 200, body: first.json, user };
  if (limit !== undefined && first.count === limit) {
    return { status: 200, headers: nextLink(path, limit, first.last), body: first.json, user };
  }
  if (limit === undefined || request.isHead) return { status: 200, body: allPages(store, user, first), user };
  const { cutAfter, body } = await longLists.prepare({ ...request, limit, first });
  return { status: 200, headers: cutAfter === '' ? [] : nextLink(path, limit, cutAfter), body, user };
}

/** Yields the first page, then all other pages. Each page is read after the previous one has been sent. */
async function* allPages(store: PlantStore, user: string, first: JsonPage): AsyncGenerator<string, void, undefined> {
  yield first.json.slice(0, -1);
  for (let page = first; page.hasMore;) {
    // Without this wait, a synchronous storage adapter would block other requests until the whole list has been read.
    await pageTurn(user);
    page = await plantPageJson(store, user, { after: page.last });
    if (page.count > 0) yield `,${page.json.slice(1, -1)}`;
  }
  yield ']';
}

/**
 * Returns the `Link` header (RFC 8288) for a list that is truncated by its limit. The header links to the plants after
 * `last`.
 */
function nextLink(path: string, limit: number, last: PlantId | string | undefined): Answer['headers'] {
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
  // URLSearchParams removes a leading `?`, so one is added here. If the query itself begins with a `?`, that character
  // is part of the name of the first parameter.
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
