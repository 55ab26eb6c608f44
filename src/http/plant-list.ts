import { setImmediate as nextTurn } from 'node:timers/promises';
import { PlantStoreError } from '../errors.ts';
import { int64FromText } from '../int64.ts';
import { maxLimit, plantJson } from '../plant.ts';
import type { PlantId, StoredPlant } from '../plant.ts';
import type { PlantStore } from '../plant-store.ts';
import type { JsonPage } from '../storage/storage-adapter.ts';
import type { Answer } from './answer.ts';

/** Which plants a list request asks for. */
export interface PlantListRequest {
  readonly user: string;
  /** The query as it came, without `?`. */
  readonly query: string;
  /** The path that `Link` points to. */
  readonly path: string;
}

interface Range {
  readonly limit: number | undefined;
  readonly after: PlantId | undefined;
}

/** One page of plants at a time. */
type Pages = AsyncGenerator<StoredPlant[], void, undefined>;

/**
 * The answer of getPlants: a JSON array of Plant in ascending id, in constant memory for each
 * request, but for 8 bytes a plant where a limit takes more than one page.
 *
 * @throws {PlantStoreError} `invalid_limit`, `invalid_after`.
 */
export async function plantListAnswer(store: PlantStore, { user, query, path }: PlantListRequest): Promise<Answer> {
  const range = parseQuery(query);
  const page = await store.plantPageJson(user, range);
  if (!page.hasMore) return { status: 200, body: page.json };
  if (range.limit === undefined) return { status: 200, body: allPages(store, user, page) };
  if (page.count < range.limit) return longListAnswer(store, user, range, path);
  return { status: 200, headers: nextLink(path, range.limit, page.last), body: page.json };
}

/** The first page and those behind it, each read when the one before is on its way. */
async function* allPages(store: PlantStore, user: string, first: JsonPage): AsyncGenerator<string, void, undefined> {
  yield first.json.slice(0, -1);
  for (let page = first; page.hasMore; ) {
    // A storage that answers within the turn would otherwise keep everybody else waiting to the end.
    await nextTurn();
    page = await store.plantPageJson(user, { after: page.last });
    if (page.count > 0) yield `,${page.json.slice(1, -1)}`;
  }
  yield ']';
}

/**
 * With a limit that takes more than one page, the ids are read first: `Link` stands before the
 * body and must name the last one. The answer then holds those plants and no others, or plants
 * created meanwhile would push known ones over the limit and the next page would miss them.
 */
async function longListAnswer(store: PlantStore, user: string, range: Range, path: string): Promise<Answer> {
  const ids: BigInt64Array[] = [];
  let last: PlantId | undefined;
  for await (const page of store.plantPages(user, range)) {
    ids.push(BigInt64Array.from(page, ({ id }) => id));
    last = page.at(-1)?.id;
  }
  if (last === undefined) return { status: 200, body: '[]' };
  const [more] = await store.listPlants(user, { after: last, limit: 1 });
  const headers = more === undefined ? [] : nextLink(path, range.limit, last);
  return { status: 200, headers, body: onlyThese(store.plantPages(user, { after: range.after }), ids) };
}

async function* onlyThese(pages: Pages, sortedIds: readonly BigInt64Array[]): AsyncGenerator<string, void, undefined> {
  const ids = (function* () {
    for (const chunk of sortedIds) yield* chunk;
  })();
  let wanted = ids.next();
  let separator = '[';
  for await (const page of pages) {
    const kept = page.filter(({ id }) => {
      while (!wanted.done && wanted.value < id) wanted = ids.next();
      return !wanted.done && wanted.value === id;
    });
    if (kept.length > 0) {
      yield separator + kept.map(plantJson).join(',');
      separator = ',';
    }
    if (wanted.done) break;
  }
  yield separator === '[' ? '[]' : ']';
}

/** RFC 8288: where the list goes on that the limit cut short after `last`. */
function nextLink(path: string, limit: number | undefined, last: PlantId | undefined): Answer['headers'] {
  return ['Link', `<${path}?limit=${limit ?? ''}&after=${last ?? ''}>; rel="next"`];
}

/** What clients that follow `Link` send: URLSearchParams would cost a tenth of the whole request. */
const plainQuery = /^limit=(\d{1,9})(?:&after=(-?\d{1,18}))?$/;

function parseQuery(query: string): Range {
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
