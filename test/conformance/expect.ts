import { isDeepStrictEqual } from 'node:util';
import { inBatches } from './client.ts';
import type { Client, Exchange, ListedPlant, NewPlant, User } from './client.ts';

type Sent = Exchange | Promise<Exchange>;

/** Checks a rule. `plant` is a plant that no user has created yet. */
export type Check = (client: Client, plant: NewPlant) => Promise<unknown>;

/**
 * The checks of one part of the interface. A key is the title of a test: an id, the rule with its level (MUST or
 * SHOULD, RFC 2119), and then in brackets the standard that contains the rule, if any.
 */
export type Checks = Readonly<Record<string, Check>>;

/** Fails with a message that shows what was sent, expected and received. */
export function expect(condition: boolean, exchange: Exchange, expected: string): asserts condition {
  if (condition) return;
  const { request, status, headers, text } = exchange;
  const { method, target, headers: sent, body = '' } = request;
  const lines = [
    `expected: ${shortened(expected)}`,
    `sent:     ${method} ${target} ${JSON.stringify(sent)} ${quoted(body)}`,
    `received: ${status} ${JSON.stringify(Object.fromEntries(headers))} ${quoted(text)}`,
  ];
  throw new Error(lines.join('\n'));
}

function quoted(content: string | Uint8Array): string {
  return shortened(JSON.stringify(Buffer.from(content).toString()));
}

function shortened(text: string): string {
  return text.length > 500 ? `${text.slice(0, 500)}... (${text.length} characters)` : text;
}

/** The statuses with which a server may create a plant. Only the check create-200 requires the right one. */
const created = [200, 201];

export async function expectStatus(sent: Sent, ...statuses: readonly number[]): Promise<Exchange> {
  const exchange = await sent;
  expect(statuses.includes(exchange.status), exchange, `status ${statuses.join(' or ')}`);
  return exchange;
}

export function headerOf({ headers }: Exchange, name: string): string {
  return headers.get(name) ?? '';
}

/** Checks that a header matches the pattern. `what` describes the expected header. */
export function expectHeader(exchange: Exchange, name: string, pattern: RegExp, what: string): void {
  expect(pattern.test(headerOf(exchange, name)), exchange, what);
}

/** Returns the body, which must be JSON with the right media type. */
export function expectJson(exchange: Exchange): unknown {
  const mediaType = headerOf(exchange, 'content-type').replace(/;.*/s, '').trim().toLowerCase();
  expect(mediaType === 'application/json', exchange, 'the media type application/json');
  let value: unknown;
  try {
    value = JSON.parse(exchange.text);
  } catch {
    expect(false, exchange, 'a JSON body');
  }
  return value;
}

/** Returns the Plant shape, which has no id. */
function listed({ name, tag }: ListedPlant): ListedPlant {
  return { name, ...(tag !== undefined && { tag }) };
}

export function namesOf(plants: readonly ListedPlant[]): string {
  return plants.map(({ name }) => name).join(', ');
}

export async function expectPlant(sent: Sent, plant: ListedPlant): Promise<void> {
  const exchange = await expectStatus(sent, ...created);
  const expected = listed(plant);
  expect(isDeepStrictEqual(expectJson(exchange), expected), exchange, `the Plant ${JSON.stringify(expected)}`);
}

/** Checks that the body is a JSON array of plants, each with a name. */
export async function expectList(sent: Sent): Promise<ListedPlant[]> {
  const exchange = await expectStatus(sent, 200);
  const list = expectJson(exchange);
  const isList = Array.isArray(list) && list.every((item) => typeof (item as ListedPlant | null)?.name === 'string');
  expect(isList, exchange, 'a JSON array of Plant');
  return list as ListedPlant[];
}

/** Checks that a list consists of exactly these plants without their ids, in this order. */
export async function expectPlants(sent: Sent, plants: readonly ListedPlant[]): Promise<Exchange> {
  const exchange = await sent;
  const expected = plants.map(listed);
  expect(isDeepStrictEqual(await expectList(exchange), expected), exchange, `the list ${JSON.stringify(expected)}`);
  return exchange;
}

/** Checks that a response has this status and that its body is an Error. Returns the integer of the Error. */
export async function expectError(sent: Sent, status: number): Promise<number> {
  const exchange = await expectStatus(sent, status);
  const { error, message } = (expectJson(exchange) ?? {}) as { error?: unknown; message?: unknown };
  const isInt32 = typeof error === 'number' && Number.isInteger(error) && Math.abs(error) <= 2_147_483_647;
  expect(isInt32 && typeof message === 'string', exchange, 'an Error: {"error": int32, "message": string}');
  return error;
}

export async function inTurn<T>(values: Iterable<T>, check: (value: T) => unknown): Promise<void> {
  for (const value of values) await check(value);
}

export async function mustCreate(user: User, ...plants: readonly NewPlant[]): Promise<void> {
  await inBatches(plants, (plant) => expectStatus(user.create(plant), ...created));
}

export async function createPlant(client: Client, user: User = client.a): Promise<NewPlant> {
  const plant = client.newPlant();
  await mustCreate(user, plant);
  return plant;
}

/** Creates plants with these ids and new names as user A. */
export async function createAt(client: Client, ...ids: readonly bigint[]): Promise<NewPlant[]> {
  const plants = ids.map((id) => client.newPlant(id));
  await mustCreate(client.a, ...plants);
  return plants;
}

export async function expectStored({ a }: Client, plant: NewPlant): Promise<void> {
  await expectPlants(a.list(`after=${plant.id - 1n}&limit=1`), [plant]);
}

/** Checks that a list contains exactly these plants of the current test, in this order. Compares their names. */
export async function expectMine(
  client: Client,
  expected: readonly ListedPlant[],
  user: User = client.a,
  query = '',
): Promise<void> {
  const exchange = await user.list(query);
  const mine = (await expectList(exchange)).filter(({ name }) => name.startsWith(client.marker));
  const names = namesOf(expected);
  const what = names === '' ? 'no plant of this test' : `exactly these plants of this test: ${names}`;
  expect(namesOf(mine) === names, exchange, what);
}
