import { expectList, expectSuccess } from './expect.ts';
import type { ListedPlant } from './expect.ts';
import type { Exchange, Send } from './exchange.ts';

/** How many requests {@link CheckUser.createAll} sends at once. */
const concurrency = 16;

/** The parts of a request that most checks leave at their defaults. */
export interface RequestParts {
  readonly body?: string | Uint8Array<ArrayBuffer>;
  /** Replaces the default headers: `Authorization`, and `Content-Type` if there is a body. `undefined` removes one. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

/** A plant that a check creates. The id is text if a check needs a notation of its own, such as `1e3`. */
export interface CheckPlant extends ListedPlant {
  readonly id: bigint | string;
}

/** Sends the requests of one token, and remembers the ids under which plants may exist because of them. */
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
   * Sends a body to POST /plants. `ids` are the ids under which the server may store a plant because of it, also if it
   * should refuse the body. They must be ids that only this run uses, because they are deleted after the check.
   */
  async post(body: string | Uint8Array<ArrayBuffer>, ids: readonly (bigint | string)[]): Promise<Exchange> {
    this.track(ids);
    return this.send('POST', '/plants', { body });
  }

  /** Sends a NewPlant to POST /plants. */
  async create(plant: CheckPlant): Promise<Exchange> {
    return this.post(newPlantJson(plant), [plant.id]);
  }

  /** Creates a plant, as a step that prepares a check. Throws a CheckFailure if the server refuses it. */
  async mustCreate(plant: CheckPlant): Promise<void> {
    expectSuccess(await this.create(plant));
  }

  /** Creates plants like {@link mustCreate}, several at once. */
  async createAll(plants: readonly CheckPlant[]): Promise<void> {
    for (let at = 0; at < plants.length; at += concurrency) {
      await Promise.all(plants.slice(at, at + concurrency).map((plant) => this.mustCreate(plant)));
    }
  }

  /** Sends GET /plants with a query string. */
  async list(query = ''): Promise<Exchange> {
    return this.send('GET', query === '' ? '/plants' : `/plants?${query}`);
  }

  /** Lists all plants and returns those whose name begins with `marker`, with the exchange. */
  async listMarked(marker: string): Promise<{ plants: ListedPlant[]; exchange: Exchange }> {
    const exchange = await this.list();
    return { plants: expectList(exchange).filter(({ name }) => name.startsWith(marker)), exchange };
  }

  /** Sends DELETE /plants/{id}. */
  async remove(id: bigint | string): Promise<Exchange> {
    return this.send('DELETE', `/plants/${id}`);
  }

  /** Remembers ids that {@link cleanUp} must delete. They must be ids that only this run uses. */
  track(ids: readonly (bigint | string)[]): void {
    for (const id of ids) {
      this.#ids.add(String(id));
      // A faulty server may read the id in a body, but not the id in a path, as a double.
      if (typeof id === 'bigint') this.#ids.add(BigInt(Number(id)).toString());
    }
  }

  /** Sends, with the given function, a DELETE for every plant that may exist because of this run. */
  async cleanUp(send: Send): Promise<void> {
    const deleter = new CheckUser(send, this.token);
    const ids = [...this.#ids];
    for (let at = 0; at < ids.length; at += concurrency) {
      // An id that cannot be deleted is found when the run looks for plants that are left.
      await Promise.allSettled(ids.slice(at, at + concurrency).map((id) => deleter.remove(id)));
    }
    this.#ids.clear();
  }
}

/** Returns a NewPlant as JSON. The id is written as it is, because a JavaScript number could not hold it exactly. */
export function newPlantJson({ id, name, tag }: CheckPlant): string {
  return `{"id":${id},${JSON.stringify({ name, tag }).slice(1)}`;
}
