/** The parts of a request that {@link callService} sends besides the method and the target. */
export interface Call {
  /** Sent as `Authorization: Bearer …`; default `ada`. If `null`, the header is not sent. */
  readonly token?: string | null;
  /** Sent unchanged, with the Content-Type `application/json` unless `headers` sets another. */
  readonly body?: string | Uint8Array;
  readonly headers?: Record<string, string>;
}

export type Answered = Awaited<ReturnType<typeof callService>>;

/**
 * Sends a request, by default over the network, and asserts that the OpenAPI document describes the response. If the
 * body is empty, `json` is `undefined`.
 */
export async function callService(
  url: string,
  method: string,
  target: string,
  call: Call = {},
  send: (request: Request) => Promise<Response> = fetch,
) {
  const { token = 'ada', body, headers = {} } = call;
  const request = new Request(url + target, {
    method,
    headers: {
      ...(token !== null && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body }),
  });
  const response = await send(request);
  const answered = { status: response.status, headers: response.headers, text: await response.text() };
  // Ajv is loaded on demand, because it loads slowly and many test files do not need it.
  const { assertDescribed } = await import('./described.ts');
  assertDescribed(method, target, answered);
  const json: unknown = answered.text === '' ? undefined : JSON.parse(answered.text);
  return { ...answered, json, error: errorOf(json) };
}

export function outcome({ status, error }: Answered): [status: number, error: number | undefined] {
  return [status, error];
}

export function namesIn({ json }: Answered): string[] {
  return (json as { name: string }[]).map(({ name }) => name);
}

/** Returns the `error` integer of an Error body, or `undefined` for other bodies. */
export function errorOf(json: unknown): number | undefined {
  return (json as { error?: number } | undefined)?.error;
}
