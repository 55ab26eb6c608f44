import { isDeepStrictEqual } from 'node:util';
import type { Exchange } from './exchange.ts';

/** What a check expected, and what it received instead. */
export interface Failure {
  /** Completes the sentence "The check expects …". */
  readonly expected: string;
  readonly received: string;
  /** The exchange that breaks the rule; missing if there was no complete response, or if there are `details`. */
  readonly exchange?: Exchange;
  /** Further lines of explanation. */
  readonly details?: readonly string[];
}

/** Thrown if the server does not follow a rule. */
export class CheckFailure extends Error {
  override readonly name = 'CheckFailure';
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(`Expected ${failure.expected}`);
    this.failure = failure;
  }
}

/** Thrown if a check, or all of them, cannot be run on this server. The message states the reason. */
export class NotRun extends Error {
  override readonly name = 'NotRun';
}

/** An exchange that may still be in progress. */
type Sent = Exchange | Promise<Exchange>;

/** Throws a CheckFailure unless the condition is true. `expected` completes the sentence "The check expects …". */
export function expect(condition: boolean, exchange: Exchange, expected: string): asserts condition {
  if (!condition) throw new CheckFailure({ expected, received: `status ${exchange.response.status}`, exchange });
}

/** Checks that the response has one of these statuses. */
export async function expectStatus(sent: Sent, ...statuses: readonly number[]): Promise<Exchange> {
  const exchange = await sent;
  expect(statuses.includes(exchange.response.status), exchange, `status ${statuses.join(' or ')}`);
  return exchange;
}

/** Checks that the response to a preparatory request has any 2xx status. Other checks test the exact status. */
export async function expectSuccess(sent: Sent): Promise<Exchange> {
  const exchange = await sent;
  const { status } = exchange.response;
  expect(status >= 200 && status < 300, exchange, 'a successful status, which this check needs to continue');
  return exchange;
}

/** Returns the value of a response header, or an empty string if the header is absent. */
export function headerOf({ response }: Exchange, name: string): string {
  return response.headers.get(name) ?? '';
}

/** Returns the media type of a response in lower case, without parameters. */
export function mediaType(exchange: Exchange): string {
  return headerOf(exchange, 'content-type').replace(/;.*/s, '').trim().toLowerCase();
}

export async function expectJsonType(sent: Sent): Promise<Exchange> {
  const exchange = await sent;
  expect(mediaType(exchange) === 'application/json', exchange, 'the media type application/json');
  return exchange;
}

/** Checks that the body is JSON, and returns the parsed value. */
export function expectJson(exchange: Exchange): unknown {
  try {
    return JSON.parse(exchange.response.text) as unknown;
  } catch {
    expect(false, exchange, 'a JSON body');
  }
}

/** Checks that a response has this status and no body. */
export async function expectNoBody(sent: Sent, status: number): Promise<void> {
  const exchange = await expectStatus(sent, status);
  expect(exchange.response.text === '', exchange, 'no body');
}

export interface ListedPlant {
  readonly name: string;
  readonly tag?: string;
}

/** Returns a plant as it appears in a response, that is, without its id. */
function listed({ name, tag }: ListedPlant): ListedPlant {
  return { name, ...(tag !== undefined && { tag }) };
}

export function namesOf(plants: readonly ListedPlant[]): string[] {
  return plants.map(({ name }) => name);
}

/** Checks that the body is exactly this plant without its id. */
export async function expectPlant(sent: Sent, plant: ListedPlant): Promise<void> {
  const exchange = await expectStatus(sent, 200);
  const expected = listed(plant);
  expect(isDeepStrictEqual(expectJson(exchange), expected), exchange, `the Plant ${JSON.stringify(expected)}`);
}

/** Checks that the body of a response is a list: a JSON array of objects that have a name. Returns the list. */
export async function expectList(sent: Sent): Promise<ListedPlant[]> {
  const exchange = await expectSuccess(sent);
  const list = expectJson(exchange);
  const isList = Array.isArray(list) && list.every((item) => typeof fieldsOf(item)['name'] === 'string');
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

/** Checks that a response has this status and that its body is an Error. Returns the fields of the Error. */
export async function expectError(sent: Sent, status: number): Promise<{ error: number; message: string }> {
  const exchange = await expectJsonType(expectStatus(sent, status));
  const { error, message } = fieldsOf(expectJson(exchange));
  const isInt32 = typeof error === 'number' && Number.isInteger(error) && Math.abs(error) <= 2_147_483_647;
  expect(isInt32 && typeof message === 'string', exchange, 'an Error: {"error": int32, "message": string}');
  return { error, message };
}

/** Checks that the body is an Error with this integer, and that the response has the status of this integer. */
export async function expectCode(sent: Sent, integer: number): Promise<void> {
  const exchange = await sent;
  const { error } = await expectError(exchange, Math.floor(integer / 100));
  expect(error === integer, exchange, `the error ${integer}`);
}

/** Checks the first challenge (RFC 9110 §11.6.1), which must be Bearer. It must not have `undefined` parameters. */
export async function expectChallenge(sent: Sent, parameters: Record<string, string | undefined>): Promise<void> {
  const exchange = await sent;
  const [, scheme = '', rest = ''] = /^\s*([\w-]+)(.*)$/s.exec(headerOf(exchange, 'www-authenticate')) ?? [];
  const pairs = [...rest.matchAll(/([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/g)];
  const received = new Map(
    pairs.map(([, name = '', quoted, token]) => [name.toLowerCase(), quoted?.replaceAll(/\\(.)/g, '$1') ?? token]),
  );
  const isEqual = Object.entries(parameters).every(([name, value]) => received.get(name) === value);
  const present = Object.entries(parameters).filter(([, value]) => value !== undefined);
  const expected = present.map(([name, value]) => `${name}="${value ?? ''}"`).join(', ');
  expect(scheme.toLowerCase() === 'bearer' && isEqual, exchange, `WWW-Authenticate: Bearer ${expected}`);
}

/** Returns the fields of a JSON object, or an empty object if the value is not an object. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
