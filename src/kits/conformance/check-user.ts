import { expectSuccess } from './expect.ts';
import type { ListedPlant } from './expect.ts';
import type { CheckRequest, Exchange, Send } from './exchange.ts';

/** The maximum number of concurrent requests. */
const concurrency = 16;

/** Headers that replace the default headers. If a value is `undefined`, the request does not have this header. */
type ReplacedHeaders = Readonly<Record<string, string | undefined>>;

/** A plant that a check creates. */
export interface NewPlant extends ListedPlant {
  readonly id: bigint;
}

/** Sends requests with one token, and records the ids of the plants that these requests may have created. */
export class CheckUser {
  readonly #send: Send;
  readonly #token: string | undefined;
  readonly #ids = new Set<bigint>();

  /** `token` is `undefined` for requests without credentials. */
  constructor(send: Send, token?: string) {
    this.#send = send;
    this.#token = token;
  }

  /**
   * Sends a request. `line` is the method and the target, such as `GET /plants`. The default headers are
   * `Authorization` and, if there is a body, `Content-Type`.
   */
  async send(line: string, parts: { body?: CheckRequest['body']; headers?: ReplacedHeaders } = {}): Promise<Exchange> {
    const [method = '', target = ''] = line.split(' ');
    const all: ReplacedHeaders = {
      ...(this.#token !== undefined && { authorization: `Bearer ${this.#token}` }),
      ...(parts.body !== undefined && { 'content-type': 'application/json' }),
      ...parts.headers,
    };
    const headers = Object.fromEntries(
      Object.entries(all).filter((entry): entry is [string, string] => entry[1] != null),
    );
    const request = { method, target, headers, body: parts.body };
    return { request, response: await this.#send(request) };
  }

  /** Sends a body to POST /plants. The server might store a plant under one of `ids`, correctly or by mistake. */
  async post(body: CheckRequest['body'], ...ids: readonly bigint[]): Promise<Exchange> {
    this.track(...ids);
    return this.send('POST /plants', { body });
  }

  /** Sends a NewPlant to POST /plants. */
  async create(plant: NewPlant, headers: ReplacedHeaders = {}): Promise<Exchange> {
    this.track(plant.id);
    return this.send('POST /plants', { body: newPlantJson(plant), headers });
  }

  /** Creates plants that a check requires. Throws a CheckFailure if the server refuses a plant. */
  async mustCreate(...plants: readonly NewPlant[]): Promise<void> {
    await inBatches(plants, async (plant) => expectSuccess(this.create(plant)));
  }

  /** Sends GET /plants with a query string. */
  async list(query = '', headers: ReplacedHeaders = {}): Promise<Exchange> {
    return this.send(query === '' ? 'GET /plants' : `GET /plants?${query}`, { headers });
  }

  /** Sends DELETE /plants/{id}. The id is a string if a check requires a particular notation, such as `1e3`. */
  async remove(id: bigint | string, headers: ReplacedHeaders = {}): Promise<Exchange> {
    return this.send(`DELETE /plants/${id}`, { headers });
  }

  /** Records ids of plants that {@link cleanUp} must delete. The ids must be unique to this run. */
  track(...ids: readonly bigint[]): void {
    // A faulty server might round ids to doubles in bodies but not in paths, so the rounded ids are recorded, too.
    for (const id of ids) this.#ids.add(id).add(BigInt(Number(id)));
  }

  /** Deletes the plants with the recorded ids. Sends the requests with `send`. */
  async cleanUp(send: Send): Promise<void> {
    const deleter = new CheckUser(send, this.#token);
    // Failures are ignored. `CheckClient.findLeftovers` finds the plants that still exist at the end of the run.
    await inBatches([...this.#ids], async (id) => deleter.remove(id).catch(() => undefined));
    this.#ids.clear();
  }
}

async function inBatches<T>(items: readonly T[], perform: (item: T) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < items.length; at += concurrency) {
    await Promise.all(items.slice(at, at + concurrency).map(perform));
  }
}

/** Returns a NewPlant as JSON. The id is inserted as text, because a JavaScript number cannot represent every id. */
export function newPlantJson({ id, name, tag }: NewPlant): string {
  return `{"id":${id},${JSON.stringify({ name, tag }).slice(1)}`;
}
