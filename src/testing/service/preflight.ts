import type { Client, User } from './client.ts';
import { NotRun, Unexpected } from './exchange.ts';

/**
 * Verifies that the tests can be run: that the server responds and accepts the tokens, and that they belong to two
 * users. Creates and deletes one plant.
 *
 * @throws {NotRun} if the tests cannot be run; the message is the reason.
 */
export async function preflight(client: Client): Promise<void> {
  const { a, b, tokens, baseUrl } = client;
  try {
    await checkToken(baseUrl, a, 'token A');
    await checkToken(baseUrl, b, 'token B');
    if (tokens.readOnly !== undefined) await checkToken(baseUrl, client.readOnly(), 'the read-only token');
    await checkUsers(client);
  } catch (error) {
    if (!(error instanceof Unexpected)) throw error;
    throw new NotRun(`No Plant Store responds at ${baseUrl}: ${error.exchange.text}`, { cause: error });
  } finally {
    await client.cleanUp();
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

/**
 * Checks that the tokens belong to two users. A server that does not separate its users at all cannot be distinguished
 * from a server on which both tokens belong to one user. If a server separates them incompletely, a test fails.
 */
async function checkUsers(client: Client): Promise<void> {
  const { a, b } = client;
  const plant = client.newPlant();
  const [created, seen, again] = [await a.create(plant), await b.list(), await b.create(plant)];
  const isOneUser = created.status < 300 && seen.text.includes(plant.name) && again.status >= 400;
  if (isOneUser && (await b.remove(plant.id)).status < 300) {
    throw new NotRun('Both tokens are of the same user: use the tokens of two users.');
  }
}
