import assert from 'node:assert/strict';

/** How a check sends its requests: over the network, or directly to a function. */
export type Send = (request: Request) => Promise<Response>;

/** How many plants of ada the service must have before the check. Their ids begin at 1000. */
export const plantCount = 3000;

export const nameOf = (id: number): string => `${id} ${'x'.repeat(1000)}`;

const names = async (response: Response): Promise<string[]> =>
  ((await response.json()) as { name: string }[]).map(({ name }) => name);

const errorOf = async (response: Response): Promise<unknown[]> => [
  response.status,
  ((await response.json()) as { error: number }).error,
];

/** Checks a service with every kind of request. `base` is its URL, and its path is the prefix of the service. */
export async function checkService(send: Send, base: string, token: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const call = (method: string, target: string, body?: string): Promise<Response> =>
    send(new Request(base + target, { method, headers, ...(body !== undefined && { body }) }));

  const unauthorized = await send(new Request(`${base}/plants`));
  assert.equal(unauthorized.headers.get('www-authenticate'), 'Bearer realm="plants"');
  assert.deepEqual(await errorOf(unauthorized), [401, 40101]);

  for (const id of [1, 2]) {
    const created = await call('POST', '/plants', `{"id":${id},"name":"Fern ${id}"}`);
    assert.deepEqual([created.status, await created.text()], [200, `{"name":"Fern ${id}"}`]);
  }
  const first = await call('GET', '/plants?limit=1');
  const link = `${new URL(base).pathname.replace(/\/$/, '')}/plants?limit=1&after=1`;
  assert.equal(first.headers.get('link'), `<${link}>; rel="next"`);
  assert.deepEqual(await names(first), ['Fern 1']);
  assert.deepEqual(await names(await send(new Request(new URL(link, base), { headers }))), ['Fern 2']);

  assert.equal((await call('DELETE', '/plants/2')).status, 204);
  assert.deepEqual(await errorOf(await call('DELETE', '/plants/2')), [404, 40402]);

  const all = ['Fern 1', ...Array.from({ length: plantCount }, (_, n) => nameOf(1000 + n))];
  const list = await call('GET', '/plants');
  assert.equal(list.headers.get('content-type'), 'application/json');
  assert.deepEqual(await names(list), all);
  const limited = await call('GET', '/plants?limit=1500');
  assert.ok(limited.headers.has('link'));
  assert.deepEqual(await names(limited), all.slice(0, 1500));

  // The client receives the response although the service does not accept the rest of the body.
  assert.deepEqual(await errorOf(await call('POST', '/plants', 'x'.repeat(70_000))), [400, 40008]);
  assert.equal((await call('DELETE', '/plants/1')).status, 204);
}
