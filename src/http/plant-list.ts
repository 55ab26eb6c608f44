import { PlantStoreError } from '../model/errors.ts';
import { int64FromText } from '../model/int64.ts';
import { pageTurn } from '../store/list-scheduler.ts';
import { maxLimit } from '../model/plant.ts';
import type { PlantId } from '../model/plant.ts';
import type { PlantStore } from '../store/plant-store.ts';
import type { JsonPage } from '../storage/storage-adapter.ts';
import type { Answer } from './answer.ts';
import type { LongLists } from './long-lists.ts';

/** Which plants of a user to list. */
export interface ListQuery {
  readonly limit: number | undefined;
  readonly after: PlantId | undefined;
}

/** A list, and what is known of its request. */
export interface PlantListRequest extends ListQuery {
  readonly user: string;
  /** The path that `Link` points to. */
  readonly path: string;
  /** Whether the client wants no body (HEAD). */
  readonly isHead: boolean;
  /** Whether nobody reads the answer any more. */
  readonly isClientGone: () => boolean;
}

/**
 * The answer of getPlants: a JSON array of Plant in ascending id, of which the first page was read. It takes constant
 * memory, but for what {@link LongLists} hold if a limit takes more than one page. HEAD gets no `Link` then, because it
 * would take reading the list (RFC 9110 §9.3.2).
 *
 * @throws {PlantStoreError} `saturated`, or what the store throws.
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
  const { cutAfter, body } = await longLists.prepare({ ...request, limit });
  return { status: 200, headers: cutAfter === '' ? [] : nextLink(path, limit, cutAfter), body, user };
}

/** The first page and those behind it, each read when the one before is on its way. */
async function* allPages(store: PlantStore, user: string, first: JsonPage): AsyncGenerator<string, void, undefined> {
  yield first.json.slice(0, -1);
  for (let page = first; page.hasMore; ) {
    // A storage that answers within the turn would otherwise keep everybody else waiting to the end.
    await pageTurn(user);
    page = await store.plantPageJson(user, { after: page.last });
    if (page.count > 0) yield `,${page.json.slice(1, -1)}`;
  }
  yield ']';
}

/** RFC 8288: where the list goes on that the limit cut short after `last`. */
function nextLink(path: string, limit: number, last: PlantId | string | undefined): Answer['headers'] {
  return ['Link', `<${path}?limit=${limit}&after=${last ?? ''}>; rel="next"`];
}

/** What clients that follow `Link` send: URLSearchParams would cost a tenth of the whole request. */
const plainQuery = /^limit=(\d{1,9})(?:&after=(-?\d{1,18}))?$/;

/**
 * Parses the query of getPlants, without `?`.
 *
 * @throws {PlantStoreError} `invalid_limit`, `invalid_after`.
 */
export function parseListQuery(query: string): ListQuery {
  if (query === '') return { limit: undefined, after: undefined };
  const plain = plainQuery.exec(query);
  if (plain !== null) return { limit: Number(plain[1]), after: plain[2] === undefined ? undefined : BigInt(plain[2]) };
  const parameters = new URLSearchParams(query);
  return { limit: parseLimit(parameters.getAll('limit')), after: parseAfter(parameters.getAll('after')) };
}

function parseLimit(texts: string[]): number | undefined {
  const [text] = texts;
  if (text === undefined) return undefined;
  if (texts.length > 1 || !/^\d+$/.test(text) || Number(text) > maxLimit) throw new PlantStoreError('invalid_limit');
  return Number(text);
}

function parseAfter(texts: string[]): PlantId | undefined {
  const [text] = texts;
  if (text === undefined) return undefined;
  const after = int64FromText(text);
  if (texts.length > 1 || after === undefined) throw new PlantStoreError('invalid_after');
  return after;
}
