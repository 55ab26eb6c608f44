import { NotRun, send } from './exchange.ts';
import type { Exchange, TestRequest } from './exchange.ts';
import type { ServiceTestOptions, ServiceTokens } from './options.ts';

const maxConcurrency = 16;
/** The distance between two consecutive doubles in the range from 2^60 to 2^61. */
const doubleSpacing = 256n;

/** Headers that replace the default headers. If a value is `undefined`, the request does not have this header. */
type ReplacedHeaders = Readonly<Record<string, string | undefined>>;

export interface ListedPlant {
  readonly name: string;
  readonly tag?: string;
}

export interface NewPlant extends ListedPlant {
  readonly id: bigint;
}

/** When this is aborted, the other tests are skipped. Plants are still deleted. */
export const interruption: AbortController = new AbortController();

/** Sends requests with one token, and records the ids of the plants that these requests may have created. */
export class User {
  readonly #client: Client;
  readonly #token: string | undefined;
  readonly #ids = new Set<bigint>();

  constructor(client: Client, token?: string) {
    this.#client = client;
    this.#token = token;
  }

  /** Sends a request. `line` is the method and the target, such as `GET /plants`. */
  send(line: string, parts: { body?: TestRequest['body']; headers?: ReplacedHeaders } = {}): Promise<Exchange> {
    const [method = '', target = ''] = line.split(' ');
    const all: ReplacedHeaders = {
      ...(this.#token !== undefined && { authorization: `Bearer ${this.#token}` }),
      ...(parts.body !== undefined && { 'content-type': 'application/json' }),
      ...parts.headers,
    };
    const headers = Object.fromEntries(
      Object.entries(all).filter((entry): entry is [string, string] => entry[1] != null),
    );
    return this.#client.send({ method, target, headers, body: parts.body });
  }

  /** Sends a body to POST /plants. The server might store a plant under one of `ids`, correctly or by mistake. */
  post(body: TestRequest['body'], ...ids: readonly bigint[]): Promise<Exchange> {
    this.track(...ids);
    return this.send('POST /plants', { body });
  }

  create(plant: NewPlant, headers: ReplacedHeaders = {}): Promise<Exchange> {
    this.track(plant.id);
    return this.send('POST /plants', { body: newPlantJson(plant), headers });
  }

  list(query = '', headers: ReplacedHeaders = {}): Promise<Exchange> {
    return this.send(query === '' ? 'GET /plants' : `GET /plants?${query}`, { headers });
  }

  remove(id: bigint | string): Promise<Exchange> {
    return this.send(`DELETE /plants/${id}`);
  }

  /** Records ids of plants that {@link cleanUp} must delete. The ids must be unique to this run. */
  track(...ids: readonly bigint[]): void {
    // A faulty server might round ids to doubles in bodies but not in paths, so the rounded ids are recorded, too.
    for (const id of ids) this.#ids.add(id).add(BigInt(Number(id)));
  }

  /** Deletes the plants with the recorded ids. Failures are ignored. */
  async cleanUp(): Promise<void> {
    const ids = [...this.#ids];
    this.#ids.clear();
    await inBatches(ids, (id) => this.remove(id).catch(() => undefined));
  }
}

/** Sends the requests of all tests. The ids are random, so the tests do not affect the plants that the users have. */
export class Client {
  readonly tokens: ServiceTokens;
  baseUrl = '';
  readonly a: User;
  readonly b: User;
  readonly anonymous: User = new User(this);
  /** The method, the OpenAPI path and the status of each response so far, such as `delete /plants/{id} 204`. */
  readonly observed: Set<string> = new Set<string>();
  /** The number of consecutive tests that ended because a request timed out. */
  unanswered = 0;
  /** Ids that user A already had before the tests. */
  readonly taken: Set<bigint> = new Set<bigint>();
  readonly #reader: User | undefined;
  readonly #fetch: (request: Request) => Promise<Response>;
  readonly #random: bigint;
  #nextId: bigint;
  #nextLargeId: bigint;
  #testNumber = 0;
  #nameNumber = 0;

  constructor({ tokens, fetch: given = fetch }: Pick<ServiceTestOptions, 'tokens' | 'fetch'>) {
    this.tokens = tokens;
    this.#fetch = given;
    this.a = new User(this, tokens.a);
    this.b = new User(this, tokens.b);
    this.#reader = tokens.readOnly === undefined ? undefined : new User(this, tokens.readOnly);
    const [random = 0n] = crypto.getRandomValues(new BigUint64Array(1));
    this.#random = random;
    this.#nextId = 2n ** 44n + (random % 2n ** 51n);
    this.#nextLargeId = 2n ** 60n + (random % 2n ** 51n) * doubleSpacing + 1n;
  }

  async send(request: TestRequest): Promise<Exchange> {
    if (interruption.signal.aborted && request.method !== 'DELETE') throw new NotRun('The run was interrupted.');
    const exchange = await send(this.#fetch, this.baseUrl, request);
    const path = request.target.replace(/\?.*/s, '').replace(/^\/plants\/[^/]+$/, '/plants/{id}');
    this.observed.add(`${request.method.toLowerCase()} ${path} ${exchange.status}`);
    return exchange;
  }

  /** Whether requests go over the network to `baseUrl`. */
  get isRemote(): boolean {
    return this.#fetch === fetch;
  }

  get marker(): string {
    return `test-${this.#random.toString(36)}-${this.#testNumber}-`;
  }

  beginTest(): void {
    this.#testNumber++;
  }

  /** Returns the user of the read-only token. Throws a NotRun if there is no such token. */
  readOnly(): User {
    if (this.#reader === undefined) throw new NotRun('This test needs a read-only token.');
    return this.#reader;
  }

  /** Returns an unused id that a double can represent. It is greater than all earlier ones. Reserves `span` ids. */
  newId(span = 1): bigint {
    this.#nextId += BigInt(span);
    return this.#nextId - BigInt(span);
  }

  /** Returns an unused id greater than 2^60. A double cannot represent this id or any of the next 254 ids. */
  newLargeId(): bigint {
    this.#nextLargeId += doubleSpacing;
    return this.#nextLargeId - doubleSpacing;
  }

  newName(): string {
    return `${this.marker}${this.#nameNumber++}`;
  }

  newPlant(id: bigint = this.newId()): NewPlant {
    return { id, name: this.newName() };
  }

  async cleanUp(): Promise<void> {
    for (const user of [this.a, this.b, this.#reader]) await user?.cleanUp();
  }
}

export async function inBatches<T>(items: readonly T[], perform: (item: T) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < items.length; at += maxConcurrency) {
    await Promise.all(items.slice(at, at + maxConcurrency).map(perform));
  }
}

/** Returns a NewPlant as JSON. The id is inserted as text, because a JavaScript number cannot represent every id. */
export function newPlantJson({ id, name, tag }: NewPlant): string {
  return `{"id":${id},${JSON.stringify({ name, tag }).slice(1)}`;
}
