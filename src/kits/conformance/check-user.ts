import { expectList, expectSuccess } from './expect.ts';
import type { ListedPlant } from './expect.ts';
import type { Exchange, Send } from './exchange.ts';

/** The maximum number of requests that a {@link CheckUser} sends concurrently. */
const concurrency = 16;

/** The optional parts of a request. */
export interface RequestParts {
  readonly body?: string | Uint8Array<ArrayBuffer>;
  /**
   * Headers that replace the default headers, which are `Authorization` and, if there is a body, `Content-Type`. If a
   * value is `undefined`, the request does not have this header.
   */
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

/** A plant that a check creates. The id is a string if a check requires a particular notation, such as `1e3`. */
export interface CheckPlant extends ListedPlant {
  readonly id: bigint | string;
}

/** Sends requests with one token, and records the ids of the plants that these requests may have created. */
export class CheckUser {
  readonly token: string | undefined;
  readonly #send: Send;
  readonly #ids = new Set<string>();

  /** `token` is `undefined` for requests without credentials. */
  constructor(send: Send, token: string | undefined) {
    this.#send = send;
    this.token = token;
  }

  /** Sends a request and returns it together with the response. */
  async send(method: string, target: string, { body, headers }: RequestParts = {}): Promise<Exchange> {
    const all: Record<string, string | undefined> = {
      ...(this.token !== undefined && { authorization: `Bearer ${this.token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    };
    const sent = Object.fromEntries(Object.entries(all).filter((entry): entry is [string, string] => entry[1] != null));
    const request = { method, target, headers: sent, ...(body !== undefined && { body }) };
    return { request, response: await this.#send(request) };
  }

  /**
   * Sends a body to POST /plants. `ids` are the ids with which the server may store a plant, correctly or by mistake.
   * No other client may use these ids, because plants with these ids are deleted after the check.
   */
  async post(body: string | Uint8Array<ArrayBuffer>, ids: readonly (bigint | string)[]): Promise<Exchange> {
    this.track(ids);
    return this.send('POST', '/plants', { body });
  }

  /** Sends a NewPlant to POST /plants. */
  async create(plant: CheckPlant): Promise<Exchange> {
    return this.post(newPlantJson(plant), [plant.id]);
  }

  /** Creates a plant that a check requires. Throws a CheckFailure if the server refuses it. */
  async mustCreate(plant: CheckPlant): Promise<void> {
    expectSuccess(await this.create(plant));
  }

  /** Creates several plants concurrently, like {@link mustCreate}. */
  async createAll(plants: readonly CheckPlant[]): Promise<void> {
    for (let at = 0; at < plants.length; at += concurrency) {
      await Promise.all(plants.slice(at, at + concurrency).map((plant) => this.mustCreate(plant)));
    }
  }

  /** Sends GET /plants with a query string. */
  async list(query = ''): Promise<Exchange> {
    return this.send('GET', query === '' ? '/plants' : `/plants?${query}`);
  }

  /** Lists all plants. Returns the plants whose name begins with `marker`, and the exchange. */
  async listMarked(marker: string): Promise<{ plants: ListedPlant[]; exchange: Exchange }> {
    const exchange = await this.list();
    return { plants: expectList(exchange).filter(({ name }) => name.startsWith(marker)), exchange };
  }

  /** Sends DELETE /plants/{id}. */
  async remove(id: bigint | string): Promise<Exchange> {
    return this.send('DELETE', `/plants/${id}`);
  }

  /** Records ids of plants that {@link cleanUp} must delete. They must be ids that only this run uses. */
  track(ids: readonly (bigint | string)[]): void {
    for (const id of ids) {
      this.#ids.add(String(id));
      // A faulty server may convert ids in request bodies to doubles, but not ids in paths.
      if (typeof id === 'bigint') this.#ids.add(BigInt(Number(id)).toString());
    }
  }

  /** Deletes the plants with the recorded ids. Sends the requests with the given function. */
  async cleanUp(send: Send): Promise<void> {
    const deleter = new CheckUser(send, this.token);
    const ids = [...this.#ids];
    for (let at = 0; at < ids.length; at += concurrency) {
      // Failures are ignored. `CheckClient.findLeftovers` finds the plants that still exist at the end of the run.
      await Promise.allSettled(ids.slice(at, at + concurrency).map((id) => deleter.remove(id)));
    }
    this.#ids.clear();
  }
}

/**
 * Returns a NewPlant as JSON. The id is inserted as text, because a JavaScript number cannot represent every id
 * exactly.
 */
export function newPlantJson({ id, name, tag }: CheckPlant): string {
  return `{"id":${id},${JSON.stringify({ name, tag }).slice(1)}`;
}
