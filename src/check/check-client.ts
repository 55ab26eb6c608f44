import { CheckUser } from './check-user.ts';
import { NotRun } from './not-run.ts';
import type { CheckPlant } from './check-user.ts';
import type { CheckRequest, CheckResponse, Send } from './exchange.ts';
import { expectError, expectSuccess } from './expect.ts';

/** The distance between two consecutive doubles from 2^60 to 2^61. */
const doubleSpacing = 256;

/** The tokens of a run. */
export interface CheckTokens {
  /** A token with full access to the plants of a user. */
  readonly a: string;
  /** A token with full access to the plants of another user. */
  readonly b: string;
  /** A token that may read but not write, of any user. */
  readonly readOnly?: string | undefined;
}

/** What a run needs to reach a server. */
export interface CheckClientOptions {
  readonly send: Send;
  /** The URL that targets are appended to, without a trailing slash. */
  readonly baseUrl: string;
  readonly tokens: CheckTokens;
  /** When it is aborted, no further request is sent. */
  readonly signal?: AbortSignal;
}

/** A plant with an id that no other check uses. */
export interface NewPlant extends CheckPlant {
  readonly id: bigint;
}

/** A response, as far as the OpenAPI document describes it. */
export interface Observed {
  readonly method: string;
  /** The path and query after the base URL. */
  readonly target: string;
  readonly status: number;
}

/**
 * Sends the requests of a run. All ids are in ranges that are chosen at random for each run, and all names begin with a
 * marker, so that the run neither meets nor touches the plants that the users already have.
 */
export class CheckClient {
  readonly baseUrl: string;
  /** The user of the first token. */
  readonly a: CheckUser;
  /** The user of the second token. */
  readonly b: CheckUser;
  /** Sends requests without credentials. */
  readonly anonymous: CheckUser;
  /** The response statuses of the run so far. */
  readonly observed: Observed[] = [];
  /** The beginning of all names in this run. */
  readonly runMarker: string;
  readonly #reader: CheckUser | undefined;
  readonly #send: Send;
  readonly #tokens: CheckTokens;
  readonly #inFlight = new Set<Promise<unknown>>();
  #nextId: bigint;
  #nextLargeId: bigint;
  #caseNumber = 0;
  #nameNumber = 0;

  constructor({ send, baseUrl, tokens, signal }: CheckClientOptions) {
    const observedSend: Send = async (request) => {
      signal?.throwIfAborted();
      const sent = send(request);
      this.#inFlight.add(sent);
      try {
        return this.#observe(request, await sent);
      } finally {
        this.#inFlight.delete(sent);
      }
    };
    this.#send = send;
    this.#tokens = tokens;
    this.baseUrl = baseUrl;
    this.a = new CheckUser(observedSend, tokens.a);
    this.b = new CheckUser(observedSend, tokens.b);
    this.anonymous = new CheckUser(observedSend, undefined);
    this.#reader = tokens.readOnly === undefined ? undefined : new CheckUser(observedSend, tokens.readOnly);
    const random = BigInt.asUintN(64, crypto.getRandomValues(new BigUint64Array(1))[0] ?? 0n);
    this.runMarker = `check-${random.toString(36)}-`;
    this.#nextId = 2n ** 44n + (random % 2n ** 51n);
    this.#nextLargeId = 2n ** 60n + (random % 2n ** 51n) * BigInt(doubleSpacing) + 1n;
  }

  /** The beginning of all names in this check. */
  get marker(): string {
    return `${this.runMarker}${this.#caseNumber}-`;
  }

  /** Begins a check: names get another marker, so that plants of earlier checks are not mistaken for its own. */
  beginCase(): void {
    this.#caseNumber++;
  }

  /** Whether the run has a read-only token. */
  get hasReadOnly(): boolean {
    return this.#reader !== undefined;
  }

  /** Returns the user of the read-only token. Throws a NotRun if there is none. */
  readOnly(): CheckUser {
    if (this.#reader === undefined) throw new NotRun('This check needs a read-only token.');
    return this.#reader;
  }

  /**
   * Returns a new id that a double represents exactly. It is greater than all that were returned before. The `span - 1`
   * ids after it are not used either.
   */
  newId(span = 1): bigint {
    const first = this.#nextId;
    this.#nextId += BigInt(span);
    return first;
  }

  /**
   * Returns a new id like {@link newId}, but over 2^60. A double cannot represent it or any of the `span - 1` ids after
   * it: all of them are rounded to other numbers. `span` is at most 255.
   */
  newLargeId(span = 1): bigint {
    if (span >= doubleSpacing) throw new RangeError(`span must be less than ${doubleSpacing}`);
    const first = this.#nextLargeId;
    this.#nextLargeId += BigInt(doubleSpacing);
    return first;
  }

  /** Returns a new name that begins with the marker. */
  newName(): string {
    return `${this.marker}${this.#nameNumber++}`;
  }

  /** Returns a plant with a new id and a new name. */
  newPlant(tag?: string): NewPlant {
    return { id: this.newId(), name: this.newName(), ...(tag !== undefined && { tag }) };
  }

  /** Returns plants with consecutive new ids, in ascending order. */
  newPlants(count: number): NewPlant[] {
    return Array.from({ length: count }, () => this.newPlant());
  }

  /**
   * Creates a plant of user A under an id that is the same in every run. Throws a NotRun if user A already has a plant
   * with this id.
   */
  async createAtFixedId(id: bigint): Promise<CheckPlant> {
    const plant = { id, name: this.newName() };
    const created = await this.a.send('POST', '/plants', { body: `{"id":${id},"name":${JSON.stringify(plant.name)}}` });
    const { status } = created.response;
    // Only a plant that this request has created may be deleted.
    if (status >= 200 && status < 300) this.a.track([id]);
    else if (status === 400 && expectError(created, 400).error === (await this.#idTakenError())) {
      throw new NotRun(`User A already has a plant with the id ${id}.`);
    }
    expectSuccess(created);
    return plant;
  }

  /** Returns the target of a reference in a response, such as that of a `Link` header (RFC 8288 §3.2). */
  resolve(reference: string, target: string): string | undefined {
    const url = URL.canParse(reference, this.baseUrl + target) ? new URL(reference, this.baseUrl + target).href : '';
    return url.startsWith(`${this.baseUrl}/`) ? url.slice(this.baseUrl.length) : undefined;
  }

  /** Replaces the tokens of the run in a text. */
  redact(text: string, replacement: (name: string) => string): string {
    const { a, b, readOnly } = this.#tokens;
    const names = [
      [a, 'TOKEN_A'],
      [b, 'TOKEN_B'],
      [readOnly ?? '', 'READ_ONLY_TOKEN'],
    ] as const;
    // The longest first, because one token may be the beginning of another.
    const present = names.filter(([token]) => token !== '').toSorted(([one], [other]) => other.length - one.length);
    return present.reduce((rest, [token, name]) => rest.replaceAll(token, () => replacement(name)), text);
  }

  /** Deletes all plants that may exist because of the checks. Works after `signal` is aborted, too. */
  async cleanUp(): Promise<void> {
    // A create that is still in flight could take effect after its plant has been deleted.
    await Promise.allSettled(this.#inFlight);
    for (const user of this.#users()) await user.cleanUp(this.#send);
  }

  /** Returns the names of the plants of this run that still exist. */
  async findLeftovers(): Promise<string[]> {
    const found: string[] = [];
    for (const { token } of [this.a, this.b]) {
      found.push(...(await new CheckUser(this.#send, token).listMarked(this.runMarker)).plants.map(({ name }) => name));
    }
    return found;
  }

  async #idTakenError(): Promise<number> {
    const plant = this.newPlant();
    await this.a.mustCreate(plant);
    return expectError(await this.a.create(plant), 400).error;
  }

  #users(): CheckUser[] {
    return [this.a, this.b, ...(this.#reader === undefined ? [] : [this.#reader])];
  }

  #observe(request: CheckRequest, response: CheckResponse): CheckResponse {
    this.observed.push({ method: request.method, target: request.target, status: response.status });
    return response;
  }
}
