import { tokenOf } from '../../bench/data-set.ts';

/** Sends a request on a pooled connection. Resolves with `undefined` if there is no complete response in time. */
export async function sendByFetch(
  port: number,
  user: string,
  target: string,
  plant?: object,
  maxMs = 20_000,
): Promise<{ readonly status: number; readonly json: unknown } | undefined> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}${target}`, {
      method: plant === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${tokenOf(user)}`, 'content-type': 'application/json' },
      signal: AbortSignal.timeout(maxMs),
      ...(plant !== undefined && { body: JSON.stringify(plant) }),
    });
    return { status: response.status, json: await response.json() };
  } catch {
    return undefined;
  }
}
