import type { Client, User } from './client.ts';
import { NotRun, Unexpected } from './exchange.ts';

/**
 * Verifies that the tests can be run: that the server responds and accepts the tokens.
 *
 * @throws {NotRun} if the tests cannot be run; the message is the reason.
 */
export async function preflight(client: Client): Promise<void> {
  const { a, b, tokens, baseUrl } = client;
  try {
    await checkToken(baseUrl, a, 'token A');
    await checkToken(baseUrl, b, 'token B');
    if (tokens.readOnly !== undefined) await checkToken(baseUrl, client.readOnly(), 'the read-only token');
  } catch (error) {
    if (!(error instanceof Unexpected)) throw error;
    throw new NotRun(`No Plant Store responds at ${baseUrl}: ${error.exchange.text}`, { cause: error });
  }
}

async function checkToken(baseUrl: string, user: User, title: string): Promise<void> {
  const { status } = await user.list('limit=1');
  if (status === 401 || status === 403) {
    throw new NotRun(`The server refuses ${title}: it responded with ${status}.`);
  }
  if (status === 200) return;
  const hint = status === 404 ? ' Is the path of the base URL right?' : '';
  throw new NotRun(`GET ${baseUrl}/plants responded with ${status} instead of 200.${hint}`);
}
