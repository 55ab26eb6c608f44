import type { CheckClient } from './check-client.ts';
import type { CheckPlant, CheckUser } from './check-user.ts';
import { NoResponseError } from './exchange.ts';
import type { Exchange } from './exchange.ts';

/** The largest collection of a user that a run accepts, because many checks read the whole list. */
const maxPlants = 10_000;

/** The checks cannot be run. The message is one sentence that says why. */
export class CannotRunError extends Error {
  override readonly name = 'CannotRunError';
}

/**
 * Finds out whether the checks can be run at all: a server responds, it accepts the tokens, and they belong to two
 * users whose collections are not too large. Stores and removes one plant.
 *
 * @throws {CannotRunError} if they cannot be run.
 */
export async function preflight(client: CheckClient): Promise<void> {
  await checkToken(client, client.a, 'token A');
  await checkToken(client, client.b, 'token B');
  if (client.hasReadOnly) await checkToken(client, client.readOnly(), 'the read-only token');
  try {
    if (await isOneUser(client)) {
      throw new CannotRunError('Both tokens are of the same user: use the tokens of two users.');
    }
  } finally {
    await client.cleanUp();
  }
}

async function checkToken(client: CheckClient, user: CheckUser, title: string): Promise<void> {
  const { response } = await firstResponse(client, user);
  const { status } = response;
  if (status === 401 || status === 403) {
    throw new CannotRunError(`The server refuses ${title}: it responded with ${status}.`);
  }
  if (status !== 200) {
    const hint = status === 404 ? ' Is the path of the base URL right?' : '';
    throw new CannotRunError(`GET ${client.baseUrl}/plants responded with ${status} instead of 200.${hint}`);
  }
  if (countOf(response.text) > maxPlants) {
    throw new CannotRunError(`The user of ${title} has more than ${maxPlants} plants: use a user with fewer plants.`);
  }
}

async function firstResponse(client: CheckClient, user: CheckUser): Promise<Exchange> {
  try {
    return await user.list(`limit=${maxPlants + 1}`);
  } catch (error) {
    if (!(error instanceof NoResponseError)) throw error;
    throw new CannotRunError(`No Plant Store responds at ${client.baseUrl}: ${error.message}`, { cause: error });
  }
}

/** Returns the number of items of a JSON array; 0 for any other text, which a check reports. */
function countOf(text: string): number {
  try {
    return (JSON.parse(text) as { length?: number } | null)?.length ?? 0;
  } catch {
    return 0;
  }
}

/**
 * Checks whether both tokens act as one user. A server that does not separate its users in one respect fails a check.
 * One that does not separate them in any respect cannot be told from one user with two tokens.
 */
async function isOneUser(client: CheckClient): Promise<boolean> {
  const { a, b } = client;
  const plant = client.newPlant();
  const created = await create(a, plant, 'token A');
  const isVisible = (await b.list()).response.text.includes(plant.name);
  const isTaken = (await create(b, plant, 'token B')) >= 400;
  const isDeleted = (await b.remove(plant.id)).response.status < 300;
  return created < 300 && isVisible && isTaken && isDeleted;
}

async function create(user: CheckUser, plant: CheckPlant, title: string): Promise<number> {
  const { status } = (await user.create(plant)).response;
  if (status !== 403) return status;
  throw new CannotRunError(`The server does not allow ${title} to create plants: it responded with 403.`);
}
