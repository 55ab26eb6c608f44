import { CheckUser, newPlantJson } from './check-user.ts';
import type { NewPlant } from './check-user.ts';
import type { Exchange, Send } from './exchange.ts';
import {
  expect,
  expectError,
  expectList,
  expectPlant,
  expectPlants,
  expectSuccess,
  namesOf,
  NotRun,
} from './expect.ts';
import type { ListedPlant } from './expect.ts';
import { redactor } from './redact.ts';

/** The distance between two consecutive doubles in the range from 2^60 to 2^61. */
const doubleSpacing = 256;

/** The bearer tokens that the checks use. */
export interface CheckTokens {
  /** A token with full access to the plants of one user (user A). */
  readonly a: string;
  /** A token with full access to the plants of another user (user B). */
  readonly b: string;
  /** A token that permits reading but not writing. The token can belong to any user. */
  readonly readOnly?: string | undefined;
}

interface CheckClientOptions {
  readonly send: Send;
  /** The URL of the server, without a trailing slash. The target of each request is appended to this URL. */
  readonly baseUrl: string;
  readonly tokens: CheckTokens;
  /** Once this signal is aborted, the checks can send no further requests. */
  readonly signal?: AbortSignal;
}

/**
 * Sends the requests of one run of the checks. Each run uses ids from randomly chosen ranges, and names that begin with
 * a marker. The run therefore does not conflict with plants that the users already have.
 */
export class CheckClient {
  readonly baseUrl: string;
  readonly tokens: CheckTokens;
  /** Sends requests as user A. */
  readonly a: CheckUser;
  /** Sends requests as user B. */
  readonly b: CheckUser;
  /** Sends requests without credentials. */
  readonly anonymous: CheckUser;
  /** The method, the OpenAPI path and the status of each response so far, such as `delete /plants/{id} 204`. */
  readonly observed: Set<string> = new Set<string>();
  /** Replaces the tokens in a text, by default with `$TOKEN_A`, `$TOKEN_B` and `$READ_ONLY_TOKEN`. */
  readonly redact: ReturnType<typeof redactor>;
  readonly #reader: CheckUser | undefined;
  readonly #send: Send;
  readonly #inFlight = new Set<Promise<unknown>>();
  /** The prefix of all names in this run. */
  readonly #runMarker: string;
  #nextId: bigint;
  #nextLargeId: bigint;
  #caseNumber = 0;
  #nameNumber = 0;

  constructor({ send, baseUrl, tokens, signal }: CheckClientOptions) {
    const observedSend: Send = async (request) => {
      signal?.throwIfAborted();
      const sent = send(request);
      this.#inFlight.add(sent);
      const response = await sent.finally(() => this.#inFlight.delete(sent));
      const path = request.target.replace(/\?.*/s, '').replace(/^\/plants\/[^/]+$/, '/plants/{id}');
      this.observed.add(`${request.method.toLowerCase()} ${path} ${response.status}`);
      return response;
    };
    this.#send = send;
    this.baseUrl = baseUrl;
    this.tokens = tokens;
    this.a = new CheckUser(observedSend, tokens.a);
    this.b = new CheckUser(observedSend, tokens.b);
    this.anonymous = new CheckUser(observedSend);
    this.#reader = tokens.readOnly === undefined ? undefined : new CheckUser(observedSend, tokens.readOnly);
    this.redact = redactor({ TOKEN_A: tokens.a, TOKEN_B: tokens.b, READ_ONLY_TOKEN: tokens.readOnly });
    const [random = 0n] = crypto.getRandomValues(new BigUint64Array(1));
    this.#runMarker = `check-${random.toString(36)}-`;
    this.#nextId = 2n ** 44n + (random % 2n ** 51n);
    this.#nextLargeId = 2n ** 60n + (random % 2n ** 51n) * BigInt(doubleSpacing) + 1n;
  }

  /** The prefix of all names in the current check. */
  get marker(): string {
    return `${this.#runMarker}${this.#caseNumber}-`;
  }

  /** Begins a check: changes the marker, so that plants of earlier checks are not mistaken for plants of this one. */
  beginCase(): void {
    this.#caseNumber++;
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
   * Returns an unused id greater than 2^60. A double cannot represent this id or any of the next 254 ids exactly. These
   * 254 ids are reserved, too.
   */
  newLargeId(): bigint {
    const first = this.#nextLargeId;
    this.#nextLargeId += BigInt(doubleSpacing);
    return first;
  }

  /** Returns a new name that begins with the marker. */
  newName(): string {
    return `${this.marker}${this.#nameNumber++}`;
  }

  /** Returns a plant with a new name, and with the given id or a new id. */
  newPlant(id: bigint = this.newId()): NewPlant {
    return { id, name: this.newName() };
  }

  /** Creates a plant that a check requires, with a new id and a new name. */
  async createPlant(user: CheckUser = this.a): Promise<NewPlant> {
    const plant = this.newPlant();
    await user.mustCreate(plant);
    return plant;
  }

  /** Creates the plants that a check requires, as user A, with these ids and with new names. */
  async createAt(...ids: readonly bigint[]): Promise<NewPlant[]> {
    const plants = ids.map((id) => this.newPlant(id));
    await this.a.mustCreate(...plants);
    return plants;
  }

  /** Creates a plant with this id as user A. Throws a NotRun if user A already has a plant with this id. */
  async createAtFixedId(id: bigint): Promise<NewPlant> {
    const plant = this.newPlant(id);
    const created = await this.a.send('POST /plants', { body: newPlantJson(plant) });
    if (created.response.status === 400) {
      const { error } = await expectError(created, 400);
      // The response to a plant whose id is certainly taken contains the same error.
      const taken = await expectError(this.a.create(await this.createPlant()), 400);
      if (error === taken.error) throw new NotRun(`User A already has a plant with the id ${id}.`);
    }
    await expectSuccess(created);
    // The plant must not be deleted unless this request has created it.
    this.a.track(id);
    return plant;
  }

  /** Creates a plant, and checks that the response contains exactly this plant. */
  async expectCreated(plant: NewPlant, user: CheckUser = this.a): Promise<void> {
    await expectPlant(user.create(plant), plant);
  }

  /** Checks that user A has a plant with this id, this name and this tag. */
  async expectStored(plant: NewPlant): Promise<void> {
    await expectPlants(this.a.list(`after=${plant.id - 1n}&limit=1`), [plant]);
  }

  /** Lists a user's plants. Returns the plants that the current check has created, and the exchange. */
  async listMine(user: CheckUser = this.a, query = ''): Promise<{ plants: ListedPlant[]; exchange: Exchange }> {
    const exchange = await user.list(query);
    return { plants: (await expectList(exchange)).filter(({ name }) => name.startsWith(this.marker)), exchange };
  }

  /** Checks that a list contains exactly these plants of the current check, in this order. Compares their names. */
  async expectMine(expected: readonly ListedPlant[], user?: CheckUser, query?: string): Promise<void> {
    const { plants, exchange } = await this.listMine(user, query);
    const names = namesOf(expected).join(', ');
    const what = names === '' ? 'no plant of this check' : `exactly these plants of this check: ${names}`;
    expect(namesOf(plants).join(', ') === names, exchange, what);
  }

  /** Deletes all plants that the checks may have created. Also works after `signal` is aborted. */
  async cleanUp(): Promise<void> {
    // A create request that is still in flight could take effect after the delete request for the same plant.
    await Promise.allSettled(this.#inFlight);
    for (const user of [this.a, this.b, this.#reader]) await user?.cleanUp(this.#send);
  }

  /** Returns the names of the plants that were created in this run and still exist. */
  async findLeftovers(): Promise<string[]> {
    const users = [this.tokens.a, this.tokens.b].map((token) => new CheckUser(this.#send, token));
    const lists = await Promise.all(users.map((user) => expectList(user.list())));
    return namesOf(lists.flat()).filter((name) => name.startsWith(this.#runMarker));
  }
}
