import { isDeepStrictEqual } from 'node:util';
import type { Plant } from '../../src/index.ts';
import { secret, stranger } from './callers.ts';
import { rule } from './finding.ts';
import type { Expectation, Operation } from './expectation.ts';
import { elementsOf, valuesOf } from './fields.ts';
import type { WriteHistory } from './write-history.ts';
import type { ParsedResponse } from './parse-responses.ts';
import type { Request } from './parse-requests.ts';

interface Stored {
  readonly history: WriteHistory;
  /** Whether all requests for this user are on one connection, so that their order is known. */
  readonly isOrderKnown: (user: string) => boolean;
}

/** Checks one response. `request` is `undefined` if it responds to bytes that are not a request. */
export function checkResponse(
  request: Request | undefined,
  expected: Expectation,
  response: ParsedResponse,
  stored: Stored | undefined,
): void {
  const line = `${request?.method ?? 'not a request'} ${request?.target ?? ''}`;
  const what = `${line} → ${response.status} ${response.body.slice(0, 300)}`;
  const text = Buffer.from(response.body, 'latin1').toString('utf8');
  rule(!text.includes(secret), () => `${what} contains a plant of ${stranger}`);
  rule(response.status < 500, () => what);
  const isHead = request?.method === 'HEAD';
  checkInterims(request, response, what);
  const isBodyUnread = request?.hasBody === true && expected.operation?.kind !== 'create';
  rule(
    !response.isLast ||
      response.status >= 400 ||
      request === undefined ||
      request.isLast ||
      isBodyUnread ||
      mayCloseEarly(request, expected) ||
      request.doubts.length > 0,
    () => `${what} closes the connection without need`,
  );
  rule(
    response.status === 204 || valuesOf(response.fields, 'content-type').join() === 'application/json',
    () => `${what} does not have the media type of JSON`,
  );
  if (response.status >= 400) {
    // The body of a DELETE is not read. If it is malformed, the plant may be deleted nevertheless.
    if (request?.hasBody === true && expected.operation?.kind === 'delete' && response.status !== 404) {
      stored?.history.addUncertain(expected.operation);
    }
    checkError(
      response,
      { ...expected, errors: [...expected.errors, ...stateErrors(expected.operation, stored)] },
      isHead,
      what,
    );
    return;
  }
  const { operation } = expected;
  rule(
    operation !== undefined && stored !== undefined,
    () => `${what}, but it must be refused with one of ${expected.errors.join(', ')}`,
  );
  rule(response.status === (operation.kind === 'delete' || operation.kind === 'options' ? 204 : 200), () => what);
  checkSuccess(operation, response, { text, isHead, stored, what });
  if (operation.kind === 'create' || operation.kind === 'delete') {
    const existed = stored.history.has(operation.user, operation.kind === 'create' ? operation.plant.id : operation.id);
    const isPossible = !stored.isOrderKnown(operation.user) || existed === (operation.kind === 'delete');
    rule(isPossible, () => `${what}, but the plant ${existed ? 'existed' : 'did not exist'}`);
    stored.history.addAcknowledged(operation);
  }
}

/** The error integers that depend on what is stored. */
function stateErrors(operation: Operation | undefined, stored: Stored | undefined): number[] {
  if (stored === undefined || (operation?.kind !== 'create' && operation?.kind !== 'delete')) return [];
  const isCreate = operation.kind === 'create';
  const existed = stored.history.has(operation.user, isCreate ? operation.plant.id : operation.id);
  return !stored.isOrderKnown(operation.user) || existed === isCreate ? [isCreate ? 40003 : 40402] : [];
}

function checkError(
  { status, fields, body }: ParsedResponse,
  { errors }: Expectation,
  isHead: boolean,
  what: string,
): void {
  if (status === 401) rule(valuesOf(fields, 'www-authenticate').length === 1, () => `${what} without a challenge`);
  if (status === 405) rule(valuesOf(fields, 'allow').length === 1, () => `${what} without Allow`);
  if (isHead && body === '') {
    rule(
      errors.some((error) => Math.floor(error / 100) === status),
      () => `${what}, not one of ${errors.join(', ')}`,
    );
    return;
  }
  const value = parse(body, what) as { error?: unknown; message?: unknown };
  rule(
    isDeepStrictEqual(Object.keys(value), ['error', 'message']) && typeof value.message === 'string',
    () => `${what} is not an Error`,
  );
  rule(Math.floor(Number(value.error) / 100) === status, () => `${what}: the integer does not match the status`);
  rule(errors.includes(Number(value.error)), () => `${what}, not one of ${errors.join(', ')}`);
}

/**
 * Whether the request asks for 100 Continue without sending a body that is read, or for another
 * protocol. The connection may be closed after its response.
 */
function mayCloseEarly({ fields }: Request, { operation }: Expectation): boolean {
  return (
    (valuesOf(fields, 'expect').length > 0 && operation?.kind !== 'create') || valuesOf(fields, 'upgrade').length > 0
  );
}

function checkInterims(request: Request | undefined, { interims, status, body }: ParsedResponse, what: string): void {
  if (interims === 0) return;
  const isRequested =
    request !== undefined && !request.isHttp10 && elementsOf(request.fields, 'expect').includes('100-continue');
  rule(interims === 1 && isRequested, () => `${what} after ${interims} × 100 Continue`);
  const isHeaderError = status >= 400 && !/"error":(?:40001|40002|40003|40008|40009|40402)\b/.test(body);
  rule(!isHeaderError, () => `${what} after 100 Continue`);
}

interface Success extends Record<'text' | 'what', string> {
  readonly isHead: boolean;
  readonly stored: Stored;
}

function checkSuccess(
  operation: Operation,
  { fields, body }: ParsedResponse,
  { text, isHead, stored, what }: Success,
): void {
  if (operation.kind === 'options') {
    rule(valuesOf(fields, 'allow').join() === operation.allow, () => `${what} has a wrong Allow header`);
    return;
  }
  if (operation.kind === 'list') {
    checkList(
      operation,
      isHead ? undefined : (parse(text, what) as Plant[]),
      valuesOf(fields, 'link')[0],
      stored,
      what,
    );
  } else if (operation.kind === 'create') {
    const { id, ...plant } = operation.plant;
    rule(isDeepStrictEqual(parse(text, what), plant), () => `${what} for plant ${id} ${JSON.stringify(plant)}`);
  } else if (operation.kind === 'openapi' && !isHead) {
    rule('openapi' in parse(body, what), () => what);
  }
}

function checkList(
  list: Extract<Operation, { kind: 'list' }>,
  listed: Plant[] | undefined,
  link: string | undefined,
  { history, isOrderKnown }: Stored,
  what: string,
): void {
  const { user, limit = Infinity, after, path } = list;
  const isAfter = (id: bigint): boolean => after === undefined || id > after;
  const listedFormOf = (plants: readonly (Plant & { id: bigint })[]): Plant[] =>
    plants.map(({ name, tag }) => (tag === undefined ? { name } : { name, tag }));
  if (!isOrderKnown(user)) {
    const candidates = new Set(listedFormOf(history.possiblePlantsOf(user).filter(({ id }) => isAfter(id))).map(keyOf));
    rule((listed ?? []).length <= limit, () => `${what} exceeds its limit`);
    for (const plant of listed ?? []) {
      rule(
        candidates.has(keyOf(plant)),
        () => `${what} contains ${JSON.stringify(plant)}, which is not a plant of ${user}`,
      );
    }
    return;
  }
  const all = history.plantsOf(user).filter(({ id }) => isAfter(id));
  const page = all.slice(0, limit);
  rule(
    listed === undefined || isDeepStrictEqual(listed, listedFormOf(page)),
    () => `${what} instead of ${JSON.stringify(listedFormOf(page))}`,
  );
  const last = page.at(-1);
  const next =
    last === undefined || all.length === page.length
      ? undefined
      : `<${path}?limit=${limit}&after=${last.id}>; rel="next"`;
  rule(link === next, () => `${what} with Link ${String(link)} instead of ${String(next)}`);
}

function keyOf({ name, tag }: Plant): string {
  return JSON.stringify([name, tag]);
}

function parse(text: string, what: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Reported below.
  }
  rule(false, () => `${what} is not a JSON object or array`);
  return {};
}
