import type { Deliver, Exchange, SentRequest } from '../exchange.ts';
import type { AnyService } from '../../support/service.ts';

/** Breaks a server. Returns a function that sends requests to the server, but alters the requests or the responses. */
export type Break = (send: Deliver, service: AnyService) => Deliver;

/**
 * Servers with a deliberate fault. A key consists of the check that must fail and a description of the fault: for
 * example, `create-200 responds with 201`. Other checks may fail as well.
 */
export type BrokenServers = Readonly<Record<string, Break>>;

/** The parts of a response that a fault changes. A header is removed if its value is `null`. */
interface Change {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly text?: string;
}

/** The part of a text that a fault replaces, and the replacement. */
type Replacement = [from: string | RegExp, to: string | ((found: string) => string)];

function replace(text: string, [from, to]: Replacement): string {
  return text.replace(from, to as string);
}

export function error(integer: number): string {
  return JSON.stringify({ error: integer, message: 'No.' });
}

/** Returns a changed copy of a response. */
export function changed(response: Exchange, { status, headers = {}, text }: Change): Exchange {
  const copy = new Headers(response.headers);
  for (const [name, value] of Object.entries(headers)) {
    if (value === null) copy.delete(name);
    else copy.set(name, value);
  }
  return { ...response, status: status ?? response.status, headers: copy, text: text ?? response.text };
}

export function onRequest(alter: (request: SentRequest) => Partial<SentRequest>): Break {
  return (send) => (request) => send({ ...request, ...alter(request) });
}

/** Alters bodies of POST /plants requests. Leaves binary bodies unchanged. */
export function onBody(...replacement: Replacement): Break {
  return onRequest(({ body }) => (typeof body === 'string' ? { body: replace(body, replacement) } : {}));
}

export function onTarget(...replacement: Replacement): Break {
  return onRequest(({ target }) => ({ target: replace(target, replacement) }));
}

export function onQuery(alter: (query: URLSearchParams) => void): Break {
  return onRequest(({ target }) => {
    const [path = '', text] = target.split('?');
    if (text === undefined || path !== '/plants') return {};
    const query = new URLSearchParams(text);
    alter(query);
    return { target: `${path}?${query.toString()}` };
  });
}

export function onCredentials(...replacement: Replacement): Break {
  return onRequest(({ headers }) => {
    if (headers['authorization'] === undefined) return {};
    return { headers: { ...headers, authorization: replace(headers['authorization'], replacement) } };
  });
}

export function onResponse(alter: (response: Exchange, request: SentRequest) => Change): Break {
  return (send) => async (request) => {
    const response = await send(request);
    return changed(response, alter(response, request));
  };
}

export function onHeader(name: string, value: string | null): Break {
  return onResponse(() => ({ headers: { [name]: value } }));
}

export function onStatus(status: number, change: Change): Break {
  return onResponse((response) => (response.status === status ? change : {}));
}

export function onMethod(method: string, change: Change): Break {
  return onResponse((_, request) => (request.method === method ? change : {}));
}

/** Alters the responses whose body is the Error with this integer. */
export function onError(integer: number, change: Change): Break {
  return onResponse(({ text }) => (text.includes(`"error":${integer}`) ? change : {}));
}

export function onText(...replacement: Replacement): Break {
  return onResponse(({ text }) => ({ text: replace(text, replacement) }));
}

export function onList(alter: (list: { name: string }[]) => unknown): Break {
  return onResponse(({ status, text }, { method, target }) => {
    if (status !== 200 || method !== 'GET' || !target.startsWith('/plants')) return {};
    return { text: JSON.stringify(alter(JSON.parse(text) as { name: string }[])) };
  });
}

export function onCreated(alter: (plant: object) => object): Break {
  return onResponse(({ status, text }, { method }) =>
    method === 'POST' && status === 200 ? { text: JSON.stringify(alter(JSON.parse(text) as object)) } : {},
  );
}
