import { maxInt64, minInt64 } from '../../core/model/int64.ts';
import type { Client, User } from './client.ts';
import { NoResponse, NotRun } from './exchange.ts';
import { expectList } from './expect.ts';

/** The maximum number of plants that each user may have before the tests. Many tests read the whole list. */
const maxPlants = 10_000;

/**
 * Verifies that the tests can be run: that the server responds and accepts the tokens, and that they belong to two
 * users who do not have too many plants. Creates and deletes one plant.
 *
 * @throws {NotRun} if the tests cannot be run; the message is the reason.
 */
export async function preflight(client: Client): Promise<void> {
  try {
    await checkToken(client, client.a, 'token A');
    await checkToken(client, client.b, 'token B');
    if (client.tokens.readOnly !== undefined) await checkToken(client, client.readOnly(), 'the read-only token');
    await findTakenIds(client);
    await checkUsers(client);
  } catch (error) {
    if (!(error instanceof NoResponse)) throw error;
    throw new NotRun(`No Plant Store responds at ${client.baseUrl}: ${error.message}`, { cause: error });
  } finally {
    await client.cleanUp();
  }
}

async function checkToken({ baseUrl }: Client, user: User, title: string): Promise<void> {
  const listed = await user.list(`limit=${maxPlants + 1}`);
  const { status } = listed;
  if ([401, 403].includes(status)) throw new NotRun(`The server refuses ${title}: it responded with ${status}.`);
  if (status !== 200) {
    const hint = status === 404 ? ' Is the path of the base URL right?' : '';
    throw new NotRun(`GET ${baseUrl}/plants responded with ${status} instead of 200.${hint}`);
  }
  // If the body is not a list, a test fails.
  const plants = await expectList(listed).catch(() => []);
  if (plants.length > maxPlants) throw new NotRun(`The user of ${title} has more than ${maxPlants} plants.`);
}

/** Records which of the ids with a special meaning user A already has. */
async function findTakenIds({ a, taken }: Client): Promise<void> {
  const textOf = async (query: string): Promise<string> => (await a.list(query)).text;
  if ((await textOf(`after=${maxInt64 - 1n}&limit=1`)) !== '[]') taken.add(maxInt64);
  if ((await textOf('limit=1')) !== (await textOf(`after=${minInt64}&limit=1`))) taken.add(minInt64);
  if ((await textOf('after=-1&limit=1')) !== (await textOf('after=0&limit=1'))) taken.add(0n);
}

/**
 * Checks that the tokens belong to two users. If a server does not separate its users at all, it cannot be told from a
 * server at which both tokens belong to one user. If it separates them incompletely, a test fails.
 */
async function checkUsers(client: Client): Promise<void> {
  const { a, b } = client;
  const plant = client.newPlant();
  const [created, seen, again] = [await a.create(plant), await b.list(), await b.create(plant)];
  for (const [title, { status }] of [
    ['token A', created],
    ['token B', again],
  ] as const) {
    if (status === 403) throw new NotRun(`The server does not allow ${title} to create plants: it responded with 403.`);
  }
  const isOneUser = created.status < 300 && seen.text.includes(plant.name) && again.status >= 400;
  if (isOneUser && (await b.remove(plant.id)).status < 300) {
    throw new NotRun('Both tokens are of the same user: use the tokens of two users.');
  }
}
