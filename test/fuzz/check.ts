import { isDeepStrictEqual } from 'node:util';
import { secret, stranger } from './callers.ts';
import type { ScriptResult } from './client-script.ts';
import { expectation } from './expectation.ts';
import type { Expectation } from './expectation.ts';
import { elementsOf, valuesOf } from './fields.ts';
import { rule } from './finding.ts';
import type { Request } from './parse-requests.ts';
import type { ParsedResponse } from './parse-responses.ts';
import { perform } from './reference-store.ts';
import type { Stored } from './reference-store.ts';

/** Checks the responses on one connection. Returns what may be stored afterwards: one state, or several. */
export function checkConnection(result: ScriptResult, before: Stored): Stored[] {
  const { stream, received } = result;
  let stored = before;
  for (const [n, request] of stream.requests.entries()) {
    const response = received.responses[n];
    const line = `${request.method} ${request.target}`;
    if (response === undefined || mayBeTruncated(response, n, result)) {
      rule(response !== undefined || mayLackResponse(request, result), () => `no response to ${line}`);
      if (response === undefined) checkRest(result, n);
      return statesAfter(stored, stream.requests.slice(n));
    }
    const expected = expectation(request);
    const after = checkResponse(request, expected, response, stored);
    if (response.isLast) {
      const isEnd = received.responses.length === n + 1 && received.rest === '';
      rule(isEnd, () => 'bytes after the final response of a connection');
      // The body of a DELETE is not read. If it is malformed, the plant may be deleted nevertheless.
      const mayBeDeleted = response.status >= 400 && request.hasBody && expected.operation?.kind === 'delete';
      return mayBeDeleted ? statesAfter(stored, [request]) : [after];
    }
    rule(!request.isLast, () => `the connection stays open after ${line}, which requires its end`);
    stored = after;
  }
  checkRest(result, stream.requests.length);
  return [stored];
}

/** Returns what may be stored after requests without a response: a server handles them in order, and may stop early. */
function statesAfter(stored: Stored, requests: readonly Request[]): Stored[] {
  const states = [stored];
  for (const { operation } of requests.map(expectation)) {
    if (operation !== undefined) states.push((stored = perform(operation, stored).stored));
  }
  return states;
}

/** Checks the response, if any, to the bytes after the last complete request. */
function checkRest(result: ScriptResult, responseCount: number): void {
  const { stream, received, ending, wasReset } = result;
  const [response, ...further] = received.responses.slice(responseCount);
  rule(further.length === 0, () => `${received.responses.length} responses to ${stream.requests.length} requests`);
  rule(
    received.rest === '' || mayBeIncomplete(result, responseCount),
    () => `incomplete response: ${JSON.stringify(received.rest)}`,
  );
  if (response === undefined) {
    rule(stream.rest !== 'broken' || ending !== 'waits' || wasReset, () => 'no response to a malformed request');
    return;
  }
  rule(stream.rest !== 'nothing', () => 'a response without a request');
  rule(response.isLast, () => 'the connection stays open after a malformed request');
  const isBodiless = stream.isRestHead && response.body === '' && [400, 408, 431].includes(response.status);
  if (!isBodiless) checkResponse(undefined, { errors: [40009, 40800, 43100] }, response, []);
}

/** Whether the response to request `n` may be incomplete. */
function mayBeIncomplete(result: ScriptResult, n: number): boolean {
  const { stream, isCut, wasReset } = result;
  return isCut || wasReset || endsWithConnect(result) || stream.requests[n]?.bodyState === 'broken';
}

/** Whether the connection may be closed at any time, because a CONNECT arrived before an earlier response was sent. */
function endsWithConnect({ stream }: ScriptResult): boolean {
  return stream.requests.at(-1)?.method === 'CONNECT';
}

/** Whether a response without a length, which HTTP/1.0 ends with the connection, may be incomplete. */
function mayBeTruncated({ status, fields }: ParsedResponse, n: number, result: ScriptResult): boolean {
  const hasLength = fields.some(({ name }) => name === 'content-length' || name === 'transfer-encoding');
  return status === 200 && !hasLength && mayBeIncomplete(result, n);
}

function mayLackResponse(request: Request, result: ScriptResult): boolean {
  // node:http closes the connection of an HTTP/2 client without a response.
  if (request.bodyState === 'incomplete' || request.method === 'PRI') return true;
  if (result.wasReset || result.isCut || endsWithConnect(result)) return true;
  // It also closes a half-closed connection without a response if the rest is not a request.
  const { errors, operation } = expectation(request);
  const mayBeNone = operation === undefined || errors.includes(40009) || errors.includes(43100);
  return result.ending === 'half-closes' && mayBeNone;
}

/**
 * Checks one response. `request` is `undefined` if it responds to bytes that are not a request. Returns what is stored
 * afterwards.
 */
function checkResponse(
  request: Request | undefined,
  expected: Expectation,
  response: ParsedResponse,
  stored: Stored,
): Stored {
  const { status, fields, body, isLast } = response;
  const what = `${request?.method ?? 'not a request'} ${request?.target ?? ''} → ${status} ${body.slice(0, 300)}`;
  const text = Buffer.from(body, 'latin1').toString('utf8');
  rule(!text.includes(secret), () => `${what} contains a plant of ${stranger}`);
  rule(status < 500, () => what);
  checkInterims(request, response, what);
  rule(
    !isLast || status >= 400 || request === undefined || mayClose(request, expected),
    () => `${what} closes the connection without need`,
  );
  rule(
    status === 204 || valuesOf(fields, 'content-type').join() === 'application/json',
    () => `${what} does not have the media type of JSON`,
  );
  const isHead = request?.method === 'HEAD';
  const outcome = expected.operation && perform(expected.operation, stored);
  if (status >= 400) {
    const errors = [...expected.errors, ...(outcome?.error === undefined ? [] : [outcome.error])];
    checkError(response, errors, isHead, what);
    return stored;
  }
  rule(outcome !== undefined && outcome.error === undefined, () => `${what}, but it must be refused`);
  const isEmpty = expected.operation?.kind === 'delete' || expected.operation?.kind === 'options';
  rule(status === (isEmpty ? 204 : 200), () => what);
  const [link, allow] = [valuesOf(fields, 'link')[0], valuesOf(fields, 'allow')[0]];
  rule(link === outcome.link, () => `${what} with Link ${String(link)} instead of ${String(outcome.link)}`);
  rule(allow === outcome.allow, () => `${what} with Allow ${String(allow)} instead of ${String(outcome.allow)}`);
  if (!isHead && !isEmpty) {
    const json = parse(text, what);
    const isRight = outcome.json === undefined ? 'openapi' in json : isDeepStrictEqual(json, outcome.json);
    rule(isRight, () => `${what} instead of ${JSON.stringify(outcome.json)}`);
  }
  return outcome.stored;
}

/** Whether the connection may be closed after the response to a request that is not refused. */
function mayClose({ fields, isLast, hasBody, doubts }: Request, { operation }: Expectation): boolean {
  if (isLast || doubts.length > 0 || valuesOf(fields, 'upgrade').length > 0) return true;
  // A body that is not read ends the connection, and so does 100 Continue without a body.
  return operation?.kind !== 'create' && (hasBody || valuesOf(fields, 'expect').length > 0);
}

function checkError(
  { status, fields, body }: ParsedResponse,
  errors: readonly number[],
  isHead: boolean,
  what: string,
): void {
  if (status === 401) rule(valuesOf(fields, 'www-authenticate').length === 1, () => `${what} without a challenge`);
  if (status === 405) rule(valuesOf(fields, 'allow').length === 1, () => `${what} without Allow`);
  const unexpected = (): string => `${what}, not one of ${errors.join(', ')}`;
  if (isHead && body === '') {
    rule(
      errors.some((error) => Math.floor(error / 100) === status),
      unexpected,
    );
    return;
  }
  const value = parse(body, what) as { error?: unknown; message?: unknown };
  rule(
    isDeepStrictEqual(Object.keys(value), ['error', 'message']) && typeof value.message === 'string',
    () => `${what} is not an Error`,
  );
  rule(Math.floor(Number(value.error) / 100) === status, () => `${what}: the integer does not match the status`);
  rule(errors.includes(Number(value.error)), unexpected);
}

function checkInterims(request: Request | undefined, { interims, status, body }: ParsedResponse, what: string): void {
  if (interims === 0) return;
  const isRequested =
    request !== undefined && !request.isHttp10 && elementsOf(request.fields, 'expect').includes('100-continue');
  rule(interims === 1 && isRequested, () => `${what} after ${interims} × 100 Continue`);
  const isHeaderError = status >= 400 && !/"error":(?:40001|40002|40003|40008|40009|40402)\b/.test(body);
  rule(!isHeaderError, () => `${what} after 100 Continue`);
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
