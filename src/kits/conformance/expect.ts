import { isDeepStrictEqual } from 'node:util';
import type { Exchange } from './exchange.ts';

/** Thrown if the server does not follow a rule. */
export class CheckFailure extends Error {
  override readonly name = 'CheckFailure';
  /** What the rule requires the response to contain. Completes the sentence "The check expects …". */
  readonly expected: string;
  /** The exchange that breaks the rule. */
  readonly exchange: Exchange;

  constructor(expected: string, exchange: Exchange) {
    super(`Expected ${expected}`);
    this.expected = expected;
    this.exchange = exchange;
  }
}

/** Throws a CheckFailure unless the condition is true. `expected` completes the sentence "The check expects …". */
export function expect(condition: boolean, exchange: Exchange, expected: string): asserts condition {
  if (!condition) throw new CheckFailure(expected, exchange);
}

/** Checks that the response has one of these statuses. */
export function expectStatus(exchange: Exchange, ...statuses: readonly number[]): void {
  expect(statuses.includes(exchange.response.status), exchange, `status ${statuses.join(' or ')}`);
}

/**
 * Checks that a request has succeeded, with any 2xx status. Used for requests that prepare a check; other checks test
 * the exact status.
 */
export function expectSuccess(exchange: Exchange): void {
  const { status } = exchange.response;
  expect(status >= 200 && status < 300, exchange, 'a successful status, which this check needs to continue');
}

/** Returns the media type of a response in lower case, without parameters. Returns an empty string if there is none. */
export function mediaType({ response }: Exchange): string {
  return (response.headers.get('content-type') ?? '').replace(/;.*/s, '').trim().toLowerCase();
}

/** Checks that the body is JSON, and returns its value. */
export function expectJson(exchange: Exchange): unknown {
  try {
    return JSON.parse(exchange.response.text) as unknown;
  } catch {
    return fail(exchange, 'a JSON body');
  }
}

/** A plant in a response. */
export interface ListedPlant {
  readonly name: string;
  readonly tag?: string;
}

/** Checks that the body is exactly this plant, without other fields. */
export function expectPlant(exchange: Exchange, plant: ListedPlant): void {
  expectStatus(exchange, 200);
  const isEqual = isDeepStrictEqual(expectJson(exchange), { ...plant });
  expect(isEqual, exchange, `the Plant ${JSON.stringify(plant)}`);
}

/** Checks that the body of a response is a list: a JSON array of objects that have a name. Returns the list. */
export function expectList(exchange: Exchange): ListedPlant[] {
  expectSuccess(exchange);
  const list = expectJson(exchange);
  const isList = Array.isArray(list) && list.every((item) => typeof fieldsOf(item)['name'] === 'string');
  expect(isList, exchange, 'a JSON array of Plant');
  return list as ListedPlant[];
}

/** Checks that a list consists of exactly these plants, in this order. */
export function expectPlants(exchange: Exchange, plants: readonly ListedPlant[]): void {
  const isEqual = isDeepStrictEqual(
    expectList(exchange),
    plants.map((plant) => ({ ...plant })),
  );
  expect(isEqual, exchange, `the list ${JSON.stringify(plants)}`);
}

/** The fields of an Error. */
interface ErrorBody {
  readonly error: number;
  readonly message: string;
}

/** The largest int32. */
const maxInt32 = 2_147_483_647;

/** Checks that a response has this status and that its body is an Error. Returns the Error. */
export function expectError(exchange: Exchange, status: number): ErrorBody {
  expectStatus(exchange, status);
  expect(mediaType(exchange) === 'application/json', exchange, 'the media type application/json');
  const { error, message } = fieldsOf(expectJson(exchange));
  const isInt32 = typeof error === 'number' && Number.isInteger(error) && Math.abs(error) <= maxInt32;
  expect(isInt32 && typeof message === 'string', exchange, 'an Error: {"error": int32, "message": string}');
  return { error, message };
}

/** Returns the fields of a JSON object. Returns an empty object if the value is not an object. */
export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function fail(exchange: Exchange, expected: string): never {
  throw new CheckFailure(expected, exchange);
}
