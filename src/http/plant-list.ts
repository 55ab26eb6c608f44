import { PlantStoreError } from '../errors.ts';
import { int64FromText } from '../int64.ts';
import { maxLimit } from '../plant.ts';
import type { Plant, PlantId, StoredPlant } from '../plant.ts';
import type { PlantStore } from '../plant-store.ts';
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

/** Up to this limit one read gives the whole answer, unless names are very long, and tells whether it was cut short. */
const maxWholeLimit = 999;

/**
 * The answer of getPlants: a JSON array of Plant in ascending id, in constant memory for each
 * request, but for 8 bytes a plant where the limit is over 999.
 *
 * @throws {PlantStoreError} `invalid_limit`, `invalid_after`.
 */
export async function plantListAnswer(store: PlantStore, { user, query, path }: PlantListRequest): Promise<Answer> {
  const { limit, after } = parseQuery(query);
  if (limit === undefined) return listAnswer(store.plantPages(user, { after }));
  if (limit > maxWholeLimit) return longListAnswer(store, user, { limit, after }, path);

  const pages = store.plantPages(user, { after, limit: limit + 1 });
  const first = await pages.next();
  const plants = first.done ? [] : first.value;
  const isCut = plants.length > limit;
  if (!isCut && !(await pages.next()).done) return longListAnswer(store, user, { limit, after }, path);
  if (isCut) plants.pop();
  const headers = nextLink(path, limit, isCut ? plants.at(-1) : undefined);
  return { status: 200, headers, body: `[${joinPlants(plants)}]` };
}

/** The JSON of a Plant: without its id, and without a tag where there is none. */
export function plantJson({ name, tag }: Plant): string {
  return JSON.stringify({ name, tag });
}

/**
 * With a limit that takes more than one read, the ids are read first: `Link` stands before the
 * body and must name the last one. The answer then holds those plants and no others, or plants
 * created meanwhile would push known ones over the limit and the next page would miss them.
 */
async function longListAnswer(store: PlantStore, user: string, range: Range, path: string): Promise<Answer> {
  const ids: BigInt64Array[] = [];
  let last: StoredPlant | undefined;
  for await (const page of store.plantPages(user, range)) {
    ids.push(BigInt64Array.from(page, ({ id }) => id));
    last = page.at(-1);
  }
  if (last === undefined) return { status: 200, body: '[]' };
  const [more] = await store.listPlants(user, { after: last.id, limit: 1 });
  const headers = nextLink(path, range.limit, more && last);
  return listAnswer(onlyThese(store.plantPages(user, { after: range.after }), ids), headers);
}

async function* onlyThese(pages: Pages, sortedIds: readonly BigInt64Array[]): Pages {
  const ids = (function* () {
    for (const chunk of sortedIds) yield* chunk;
  })();
  let wanted = ids.next();
  for await (const page of pages) {
    const kept = page.filter(({ id }) => {
      while (!wanted.done && wanted.value < id) wanted = ids.next();
      return !wanted.done && wanted.value === id;
    });
    if (kept.length > 0) yield kept;
    if (wanted.done) return;
  }
}

/** The first two pages are read before the answer begins, so that a short list goes out in one piece. */
async function listAnswer(pages: Pages, headers?: Answer['headers']): Promise<Answer> {
  const first = await pages.next();
  const second = await pages.next();
  if (first.done) return { status: 200, headers, body: '[]' };
  if (second.done) return { status: 200, headers, body: `[${joinPlants(first.value)}]` };
  return { status: 200, headers, body: pieces([first.value, second.value], pages) };
}

/** Lets go of each page as it is sent: a slow reader is to hold no more than it must. */
async function* pieces(begun: StoredPlant[][], rest: Pages): AsyncGenerator<string, void, undefined> {
  let separator = '[';
  for (let page = begun.shift(); page !== undefined; page = begun.shift()) {
    yield separator + joinPlants(page);
    separator = ',';
  }
  for await (const page of rest) yield `,${joinPlants(page)}`;
  yield ']';
}

function joinPlants(plants: readonly StoredPlant[]): string {
  return plants.map(plantJson).join(',');
}

/** RFC 8288: where the list goes on, if the limit cut it short after `last`. */
function nextLink(path: string, limit: number | undefined, last: StoredPlant | undefined): Answer['headers'] {
  return last === undefined ? {} : { Link: `<${path}?limit=${limit ?? ''}&after=${last.id}>; rel="next"` };
}

function parseQuery(query: string): Range {
  if (query === '') return { limit: undefined, after: undefined };
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
