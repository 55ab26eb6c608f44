import { randomInt } from 'node:crypto';
import { NotRun, send } from './exchange.ts';
import type { Exchange, TestRequest } from './exchange.ts';
import type { ServiceTestOptions, ServiceTokens } from './options.ts';

export const unknownToken = 'plant-store-check-unknown-token';

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

/** Aborting this skips the remaining tests. Plants are still deleted. */
export const interruption: AbortController = new AbortController();

/** Sends requests with one token, and records the ids of the plants that these requests may have created. */
export class User {
  readonly #send: (request: TestRequest) => Promise<Exchange>;
  readonly #token: string | undefined;
  readonly #ids = new Set<bigint>();

  constructor(send: (request: TestRequest) => Promise<Exchange>, token?: string) {
    this.#send = send;
    this.#token = token;
  }

  /** Sends a request. `line` is the method and the target, such as `GET /plants`. */
  send(
    line: string,
    { body, headers = {} }: { body?: TestRequest['body']; headers?: ReplacedHeaders } = {},
  ): Promise<Exchange> {
    const [method = '', target = ''] = line.split(' ');
    const all: ReplacedHeaders = {
      authorization: this.#token && `Bearer ${this.#token}`,
      'content-type': body === undefined ? undefined : 'application/json',
      ...headers,
    };
    const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
    return this.#send({ method, target, headers: Object.fromEntries(given), body });
  }

  /** Sends POST /plants. Records `ids`, because even a faulty server might create these plants. */
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

  /** Records ids that {@link cleanUp} deletes, even if the user had plants with these ids before the run. */
  track(...ids: readonly bigint[]): void {
    // A faulty server might round ids to doubles in bodies but not in paths, so the rounded ids are recorded, too.
    for (const id of ids) this.#ids.add(id).add(BigInt(Number(id)));
  }

  /** Deletes the plants with the recorded ids. Stops if the server does not respond. */
  async cleanUp(): Promise<void> {
    const ids = [...this.#ids];
    this.#ids.clear();
    await inBatches(ids, (id) => this.remove(id)).catch(() => undefined);
  }
}

function newMarker(): string {
  return `test-${randomInt(2 ** 47).toString(36)}`;
}

/** The users of the tests. Most ids are random, so the tests rarely affect plants that the users already have. */
export class Client {
  readonly tokens: ServiceTokens;
  baseUrl = '';
  readonly a: User;
  readonly b: User;
  readonly anonymous: User;
  /** Has a well-formed token that the server does not know. */
  readonly stranger: User;
  readonly #reader: User;
  /** The names of the current test's plants start with this. */
  marker: string = newMarker();
  #nextId: bigint = 2n ** 44n + BigInt(randomInt(2 ** 47));
  #nextLargeId: bigint = 2n ** 60n + BigInt(randomInt(2 ** 47)) * doubleSpacing + 1n;
  #nextName = 0;

  constructor({ tokens, fetch: given = fetch }: Pick<ServiceTestOptions, 'tokens' | 'fetch'>) {
    const deliver = async (request: TestRequest): Promise<Exchange> => {
      if (interruption.signal.aborted && request.method !== 'DELETE') throw new NotRun('The run was interrupted.');
      return send(given, this.baseUrl, request);
    };
    this.tokens = tokens;
    this.a = new User(deliver, tokens.a);
    this.b = new User(deliver, tokens.b);
    this.anonymous = new User(deliver);
    this.stranger = new User(deliver, unknownToken);
    this.#reader = new User(deliver, tokens.readOnly);
  }

  /** Returns the user of the read-only token. Throws a `NotRun` error if there is no such token. */
  readOnly(): User {
    if (this.tokens.readOnly === undefined) throw new NotRun('This test needs a read-only token.');
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
    return this.#nextLargeId;
  }

  newPlant(id: bigint = this.newId()): NewPlant {
    return { id, name: `${this.marker} ${this.#nextName++}` };
  }

  async cleanUp(): Promise<void> {
    for (const user of [this.a, this.b, this.#reader]) await user.cleanUp();
    this.marker = newMarker();
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
