import type { CheckClient } from './check-client.ts';
import type { CheckUser, NewPlant } from './check-user.ts';
import { NoResponseError } from './exchange.ts';
import { expectList, NotRun } from './expect.ts';

/** The maximum number of plants that each user may have before the checks. Many checks read the whole list. */
const maxPlants = 10_000;

/**
 * Verifies that the checks can be run. A server must respond and accept the tokens, and the tokens must belong to two
 * users who do not have too many plants. Creates and deletes one plant.
 *
 * @throws {NotRun} if the checks cannot be run.
 */
export async function preflight(client: CheckClient): Promise<void> {
  await checkToken(client, client.a, 'token A');
  await checkToken(client, client.b, 'token B');
  if (client.tokens.readOnly !== undefined) await checkToken(client, client.readOnly(), 'the read-only token');
  try {
    if (await isOneUser(client)) throw new NotRun('Both tokens are of the same user: use the tokens of two users.');
  } finally {
    await client.cleanUp();
  }
}

async function checkToken({ baseUrl }: CheckClient, user: CheckUser, title: string): Promise<void> {
  const listed = await user.list(`limit=${maxPlants + 1}`).catch((error: unknown) => {
    if (!(error instanceof NoResponseError)) throw error;
    throw new NotRun(`No Plant Store responds at ${baseUrl}: ${error.message}`, { cause: error });
  });
  const { status } = listed.response;
  if ([401, 403].includes(status)) throw new NotRun(`The server refuses ${title}: it responded with ${status}.`);
  if (status !== 200) {
    const hint = status === 404 ? ' Is the path of the base URL right?' : '';
    throw new NotRun(`GET ${baseUrl}/plants responded with ${status} instead of 200.${hint}`);
  }
  // If the body is not a list, a later check fails.
  const plants = await expectList(listed).catch(() => []);
  if (plants.length > maxPlants) {
    throw new NotRun(`The user of ${title} has more than ${maxPlants} plants: use a user with fewer plants.`);
  }
}

/**
 * Checks whether both tokens appear to belong to the same user. A server that does not separate its users at all cannot
 * be distinguished from a server with one user who has two tokens. If a server separates its users incompletely, a
 * later check fails.
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

/** Creates a plant, and returns the status of the response. */
async function create(user: CheckUser, plant: NewPlant, title: string): Promise<number> {
  const { status } = (await user.create(plant)).response;
  if (status !== 403) return status;
  throw new NotRun(`The server does not allow ${title} to create plants: it responded with 403.`);
}
