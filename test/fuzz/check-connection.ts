import { rule } from './finding.ts';
import { expectation } from './expectation.ts';
import type { Operation } from './expectation.ts';
import { checkResponse } from './check-response.ts';
import type { WriteHistory } from './write-history.ts';
import type { ScriptResult } from './client-script.ts';
import type { ParsedResponse } from './parse-responses.ts';
import type { Request } from './parse-requests.ts';

/** The operations that the requests on a connection may have performed. */
export function operationsOf({ stream }: ScriptResult): Operation[] {
  return stream.requests.map(expectation).flatMap(({ operation }) => operation ?? []);
}

/** Checks the responses on one connection, and adds its writes to the history. */
export function checkConnection(
  result: ScriptResult,
  history: WriteHistory,
  isOrderKnown: (user: string) => boolean,
): void {
  const { stream, received, wasReset } = result;
  const expectations = stream.requests.map(expectation);
  const addUncertain = (from: number): void => {
    for (const { operation } of expectations.slice(from)) {
      if (operation?.kind === 'create' || operation?.kind === 'delete') history.addUncertain(operation);
    }
  };
  let responseCount = 0;
  for (const [n, request] of stream.requests.entries()) {
    const response = received.responses[n];
    if (response === undefined) break;
    const expected = expectations[n];
    if (expected === undefined) break;
    if (mayBeTruncated(response, n, result)) {
      addUncertain(n);
      return;
    }
    checkResponse(request, expected, response, { history, isOrderKnown });
    responseCount = n + 1;
    if (response.isLast) {
      rule(
        received.responses.length === responseCount && received.rest === '',
        () => 'bytes after the final response of a connection',
      );
      return;
    }
    rule(
      !request.isLast,
      () => `the connection stays open after ${request.method} ${request.target}, which requires its end`,
    );
  }
  addUncertain(responseCount);
  checkRest(result, responseCount);
  const request = stream.requests[responseCount];
  rule(
    request === undefined || wasReset || endsWithConnect(result) || mayLackResponse(request, result),
    () => `no response to ${request?.method ?? ''} ${request?.target ?? ''}`,
  );
}

/** Checks the response, if any, to the bytes after the last complete request. */
function checkRest(result: ScriptResult, responseCount: number): void {
  const { stream, received, isAwaited, isHalfClosed, wasReset } = result;
  const further = received.responses.slice(responseCount);
  rule(further.length <= 1, () => `${received.responses.length} responses to ${stream.requests.length} requests`);
  rule(
    received.rest === '' || mayBeIncomplete(result, responseCount),
    () => `incomplete response: ${JSON.stringify(received.rest)}`,
  );
  const [response] = further;
  if (response === undefined) {
    rule(
      stream.rest !== 'broken' || !isAwaited || wasReset || isHalfClosed,
      () => 'no response to a malformed request',
    );
    return;
  }
  rule(stream.rest !== 'nothing', () => 'a response without a request');
  const isBodiless =
    stream.isRestHead && response.body === '' && response.isLast && [400, 408, 431].includes(response.status);
  if (!isBodiless) checkRefusal(response);
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

function mayLackResponse(request: Request, { isAwaited, isHalfClosed }: ScriptResult): boolean {
  // node:http closes the connection of an HTTP/2 client without a response.
  if (request.bodyState === 'incomplete' || request.method === 'PRI') return true;
  // It also closes a half-closed connection without a response if the rest is not a request.
  const { errors, operation } = expectation(request);
  const mayBeNone = operation === undefined || errors.includes(40009) || errors.includes(43100);
  return !isAwaited && (!isHalfClosed || mayBeNone);
}

function checkRefusal(response: ParsedResponse): void {
  checkResponse(undefined, { errors: [40009, 40800, 43100] }, response, undefined);
  rule(response.isLast, () => 'the connection stays open after a malformed request');
}
