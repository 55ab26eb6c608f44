import type { CheckRequest, CheckResponse, Send } from '../../../../src/kits/conformance/exchange.ts';
import type { Service } from '../../../support/service.ts';

/** Breaks a server: returns a function that sends requests to it, but alters them or the responses. */
export type Break = (send: Send, service: Service) => Send;

/** A server with a deliberate fault. */
export interface BrokenServer {
  readonly name: string;
  /** The check that must fail. Others may fail as well. */
  readonly fails: string;
  readonly break: Break;
  /** The server cannot delete all plants of the checks. */
  readonly leavesPlants?: true;
}

/** The parts of a response that a fault changes. A header that is `null` is removed. */
interface Change {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly text?: string;
}

/** Returns a changed copy of a response. */
export function changed(response: CheckResponse, { status, headers = {}, text }: Change): CheckResponse {
  const copy = new Headers(response.headers);
  for (const [name, value] of Object.entries(headers)) {
    if (value === null) copy.delete(name);
    else copy.set(name, value);
  }
  return { status: status ?? response.status, headers: copy, text: text ?? response.text };
}

/** Alters requests before the server receives them. */
export function onRequest(alter: (request: CheckRequest) => CheckRequest): Break {
  return (send) => (request) => send(alter(request));
}

/** Alters bodies of POST /plants that are text. */
export function onBody(alter: (body: string) => string): Break {
  return onRequest((request) =>
    typeof request.body === 'string' ? { ...request, body: alter(request.body) } : request,
  );
}

/** Alters responses. */
export function onResponse(alter: (response: CheckResponse, request: CheckRequest) => Change): Break {
  return (send) => async (request) => {
    const response = await send(request);
    return changed(response, alter(response, request));
  };
}

/** Alters the responses that have this status. */
export function onStatus(status: number, change: Change): Break {
  return onResponse((response) => (response.status === status ? change : {}));
}

/** Alters each plant of the responses to GET /plants and POST /plants, if the filter accepts the method. */
export function onPlants(alter: (plant: Record<string, unknown>) => unknown, method?: 'GET' | 'POST'): Break {
  return onResponse((response, request) => {
    const isOther = method !== undefined && request.method !== method;
    if (isOther || response.status !== 200 || request.target === '/openapi.json' || response.text === '') return {};
    const body = JSON.parse(response.text) as Record<string, unknown> | Record<string, unknown>[];
    return { text: JSON.stringify(Array.isArray(body) ? body.map(alter) : alter(body)) };
  });
}
