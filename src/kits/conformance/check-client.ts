import { CheckUser } from './check-user.ts';
import { NotRun } from './not-run.ts';
import type { CheckPlant } from './check-user.ts';
import type { CheckRequest, CheckResponse, Send } from './exchange.ts';
import { expectError, expectSuccess } from './expect.ts';
import { tokenPattern } from './token-pattern.ts';

/** The distance between two consecutive doubles in the range from 2^60 to 2^61. */
const doubleSpacing = 256;

/** The bearer tokens that the checks use. */
export interface CheckTokens {
  /** A token with full access to the plants of one user (user A). */
  readonly a: string;
  /** A token with full access to the plants of another user (user B). */
  readonly b: string;
  /** A token that permits reading but not writing. It may belong to any user. */
  readonly readOnly?: string | undefined;
}

/** Options of a {@link CheckClient}. */
export interface CheckClientOptions {
  readonly send: Send;
  /** The URL of the server, without a trailing slash. The target of each request is appended to this URL. */
  readonly baseUrl: string;
  readonly tokens: CheckTokens;
  /** Once this signal is aborted, the checks can send no further requests. */
  readonly signal?: AbortSignal;
}

/** A plant with an id that no other check uses. */
export interface NewPlant extends CheckPlant {
  readonly id: bigint;
}

/** The method and target of a request, and the status of the response. They are compared with the OpenAPI document. */
export interface Observed {
  readonly method: string;
  /** The path and query after the base URL. */
  readonly target: string;
  readonly status: number;
}

/**
 * Sends the requests of one run of the checks. Each run uses ids from randomly chosen ranges, and names that begin with
 * a marker, so it does not conflict with plants that the users already have.
 */
export class CheckClient {
  readonly baseUrl: string;
  /** Sends requests as user A. */
  readonly a: CheckUser;
  /** Sends requests as user B. */
  readonly b: CheckUser;
  /** Sends requests without credentials. */
  readonly anonymous: CheckUser;
  /** The requests and response statuses of this run so far. */
  readonly observed: Observed[] = [];
  /** The prefix of all names in this run. */
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

  /** The prefix of all names in the current check. */
  get marker(): string {
    return `${this.runMarker}${this.#caseNumber}-`;
  }

  /**
   * Begins a check. Changes the marker, so that the plants of earlier checks are not mistaken for plants of this check.
   */
  beginCase(): void {
    this.#caseNumber++;
  }

  /** Whether there is a read-only token. */
  get hasReadOnly(): boolean {
    return this.#reader !== undefined;
  }

  /** Returns an object that sends requests with the read-only token. Throws a NotRun if there is no such token. */
  readOnly(): CheckUser {
    if (this.#reader === undefined) throw new NotRun('This check needs a read-only token.');
    return this.#reader;
  }

  /**
   * Returns an unused id that a double can represent exactly. The id is greater than all ids that this method has
   * returned before. The next `span - 1` ids are reserved, too.
   */
  newId(span = 1): bigint {
    const first = this.#nextId;
    this.#nextId += BigInt(span);
    return first;
  }

  /**
   * Returns an unused id greater than 2^60, and reserves the next `span - 1` ids. A double cannot represent any of
   * these ids exactly: each of them would be rounded to another number. `span` is at most 255.
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
   * Creates a plant for user A with the given id instead of a new one. Throws a NotRun if user A already has a plant
   * with this id.
   */
  async createAtFixedId(id: bigint): Promise<CheckPlant> {
    const plant = { id, name: this.newName() };
    const created = await this.a.send('POST', '/plants', { body: `{"id":${id},"name":${JSON.stringify(plant.name)}}` });
    const { status } = created.response;
    // The plant may be deleted only if this request has created it.
    if (status >= 200 && status < 300) this.a.track([id]);
    else if (status === 400 && expectError(created, 400).error === (await this.#idTakenError())) {
      throw new NotRun(`User A already has a plant with the id ${id}.`);
    }
    expectSuccess(created);
    return plant;
  }

  /**
   * Resolves a URI reference from a response to `target`, such as the reference in a `Link` header (RFC 8288 §3.2).
   * Returns the target of the reference, or `undefined` if the resolved URL does not begin with the base URL.
   */
  resolve(reference: string, target: string): string | undefined {
    const url = URL.canParse(reference, this.baseUrl + target) ? new URL(reference, this.baseUrl + target).href : '';
    return url.startsWith(`${this.baseUrl}/`) ? url.slice(this.baseUrl.length) : undefined;
  }

  /**
   * Returns `text` with each token replaced by the result of `replacement`. The argument of `replacement` is the name
   * of the token, such as `TOKEN_A`. By default, a token is replaced by `$` and its name.
   */
  redact(text: string, replacement = (name: string): string => `$${name}`): string {
    const { a, b, readOnly } = this.#tokens;
    const tokens = Object.entries({
      TOKEN_A: a,
      TOKEN_B: b,
      ...(readOnly !== undefined && { READ_ONLY_TOKEN: readOnly }),
    });
    // The longest token is searched first, because a shorter token may be the beginning of a longer one.
    const sorted = tokens.toSorted(([, one], [, other]) => other.length - one.length);
    const pattern = new RegExp(sorted.map(([name, token]) => `(?<${name}>${tokenPattern(token)})`).join('|'), 'g');
    return text.replaceAll(pattern, (...match) => {
      const groups = match.at(-1) as Readonly<Record<string, string | undefined>>;
      return replacement(sorted.find(([name]) => groups[name] !== undefined)?.[0] ?? '');
    });
  }

  /** Deletes all plants that the checks may have created. Also works after `signal` is aborted. */
  async cleanUp(): Promise<void> {
    // A create that is still in flight could take effect after its plant has been deleted.
    await Promise.allSettled(this.#inFlight);
    for (const user of this.#users()) await user.cleanUp(this.#send);
  }

  /** Returns the names of the plants that were created in this run and still exist. */
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
