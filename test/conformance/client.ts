import { randomInt } from 'node:crypto';

/** Bearer tokens of two users, and a token that permits only reading. */
export interface Tokens {
  readonly a: string;
  readonly b: string;
  readonly readOnly?: string | undefined;
}

export interface Server {
  /** The base URL, without a slash at the end. */
  readonly url: string;
  readonly tokens: Tokens;
  /** Sends the requests; by default, over the network. */
  readonly deliver?: Deliver;
}

export interface SentRequest {
  readonly method: string;
  /** The path and query after the base URL, such as `/plants?limit=1`. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer> | undefined;
}

export interface Exchange {
  readonly request: SentRequest;
  readonly status: number;
  readonly headers: Headers;
  /** The body, decoded from UTF-8. */
  readonly text: string;
}

export type Deliver = (request: SentRequest) => Promise<Exchange>;

const deadlineMs = 20_000;

/** Returns a function that sends requests to the server at `url`. Redirects are not followed. */
export function deliverTo(url: string, send: (request: Request) => Promise<Response> = fetch): Deliver {
  return async (request) => {
    const { method, target, headers, body } = request;
    const signal = AbortSignal.timeout(deadlineMs);
    // For a string, `Request` would add a Content-Type header.
    const content = body === undefined ? {} : { body: Buffer.from(body) };
    const sent = new Request(url + target, { method, headers, redirect: 'manual', signal, ...content });
    try {
      const response = await send(sent);
      const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(await response.arrayBuffer());
      return { request, status: response.status, headers: response.headers, text };
    } catch (cause) {
      const { code, message } = ((cause as Error).cause ?? cause) as { code?: string; message: string };
      const reason = signal.aborted ? `within ${deadlineMs / 1000} s` : `(${code ?? message})`;
      throw new Error(`no complete response to ${method} ${target} ${reason}`, { cause });
    }
  };
}

/** Headers that replace the default headers. If a value is `undefined`, the request does not have this header. */
type ReplacedHeaders = Readonly<Record<string, string | undefined>>;

export interface ListedPlant {
  readonly name: string;
  readonly tag?: string;
}

export interface NewPlant extends ListedPlant {
  readonly id: bigint;
}

/** Sends requests with one token, and records the ids of the plants that these requests may have created. */
export type User = ReturnType<typeof createUser>;

function createUser(deliver: Deliver, token?: string) {
  const ids = new Set<bigint>();

  /** Sends a request. `line` is the method and the target, such as `GET /plants`. */
  function send(line: string, body?: SentRequest['body'], headers: ReplacedHeaders = {}): Promise<Exchange> {
    const [method = '', target = ''] = line.split(' ');
    const all: ReplacedHeaders = {
      authorization: token && `Bearer ${token}`,
      'content-type': body === undefined ? undefined : 'application/json',
      ...headers,
    };
    const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
    return deliver({ method, target, headers: Object.fromEntries(given), body });
  }

  /** Sends POST /plants. `id` is the id of the plant that the request may create. */
  function post(body: SentRequest['body'], id?: bigint, headers?: ReplacedHeaders): Promise<Exchange> {
    if (id !== undefined) ids.add(id);
    return send('POST /plants', body, headers);
  }

  const create = (plant: NewPlant, headers?: ReplacedHeaders) => post(newPlantJson(plant), plant.id, headers);
  const list = (query = '', headers?: ReplacedHeaders): Promise<Exchange> =>
    send(query === '' ? 'GET /plants' : `GET /plants?${query}`, undefined, headers);
  const remove = (id: bigint | string): Promise<Exchange> => send(`DELETE /plants/${id}`);
  return { ids, send, post, create, list, remove };
}

/** The users of one check. Most ids are random, so that a check rarely meets plants that earlier checks have left. */
export type Client = ReturnType<typeof createClient>;

export function createClient({ url, tokens, deliver = deliverTo(url) }: Server) {
  const [a, b] = [createUser(deliver, tokens.a), createUser(deliver, tokens.b)];
  /** The names of this check's plants start with this text. */
  const marker = `test-${randomInt(2 ** 47).toString(36)}`;
  let nextId = 2n ** 44n + BigInt(randomInt(2 ** 47));
  let nextName = 0;

  /** Returns an unused id that a double can represent. It is greater than all earlier ones. Reserves `span` ids. */
  function newId(span = 1): bigint {
    nextId += BigInt(span);
    return nextId - BigInt(span);
  }

  /** Returns an unused id from 2^60 to 2^61. A double cannot represent this id or any of the next 254 ids. */
  const newLargeId = (): bigint => 2n ** 60n + 256n * newId() + 1n;
  const newPlant = (id: bigint = newId()): NewPlant => ({ id, name: `${marker} ${nextName++}` });

  /** Deletes the plants that this check may have created. */
  async function cleanUp(): Promise<void> {
    for (const user of [a, b]) {
      await inBatches([...user.ids], (id) => user.remove(id));
      user.ids.clear();
    }
  }

  /** Has the read-only token. */
  const reader = createUser(deliver, tokens.readOnly);
  const anonymous = createUser(deliver);
  /** Has a well-formed token that the server does not know. */
  const stranger = createUser(deliver, 'plant-store-unknown-token');
  return { url, tokens, a, b, reader, anonymous, stranger, marker, newId, newLargeId, newPlant, cleanUp };
}

/** Performs at most 16 of the tasks at the same time. */
export async function inBatches<T>(items: readonly T[], perform: (item: T) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < items.length; at += 16) await Promise.all(items.slice(at, at + 16).map(perform));
}

/** Returns a NewPlant as JSON. The id is inserted as text, because a JavaScript number cannot represent every id. */
export function newPlantJson({ id, name, tag }: NewPlant): string {
  return `{"id":${id},${JSON.stringify({ name, tag }).slice(1)}`;
}
