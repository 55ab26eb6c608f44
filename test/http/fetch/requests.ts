/** Creates a request with an absolute URL. */
export function newRequest(method: string, target: string, init: RequestInit = {}): Request {
  return new Request(`http://plants.test${target}`, { method, ...init });
}

/** Creates a request with which ada creates a plant. `init` does not need `duplex`, even if the body is a stream. */
export function newPost(body: NonNullable<RequestInit['body']>, init: RequestInit = {}): Request {
  const headers = { authorization: 'Bearer ada', 'content-type': 'application/json' };
  return newRequest('POST', '/plants', { body, duplex: 'half', headers, ...init });
}
