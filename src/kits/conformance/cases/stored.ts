import type { CheckUser } from '../check-user.ts';
import type { NewPlant } from '../check-client.ts';
import type { Exchange } from '../exchange.ts';
import { expectError, expectPlants, expectStatus } from '../expect.ts';

/** Checks that a plant of the user is stored with this id, this name and this tag. */
export async function expectStored(user: CheckUser, plant: NewPlant): Promise<void> {
  await expectPlants(user.list(`after=${plant.id - 1n}&limit=1`), [plant]);
}

/**
 * Sends the same request eight times concurrently. Checks that one response has the status `success`, and that the
 * others are errors with the status `refusal`.
 */
export async function expectOnce(send: () => Promise<Exchange>, success: number, refusal: number): Promise<void> {
  const sent = await Promise.all(Array.from({ length: 8 }, send));
  const accepted = sent.filter(({ response }) => response.status === success);
  const refused = sent.filter((exchange) => !accepted.includes(exchange));
  for (const exchange of refused) await expectError(exchange, refusal);
  const [first = refused[0], second] = accepted;
  if (first !== undefined) await expectStatus(first, success);
  if (second !== undefined) await expectStatus(second, refusal);
}
