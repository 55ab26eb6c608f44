import assert from 'node:assert/strict';
import { secret } from './callers.ts';
import { isCut } from './client-script.ts';
import type { Exchanged, Script } from './client-script.ts';
import { expectation } from './expectation.ts';
import { parseResponses } from './parse-responses.ts';
import type { ParsedResponse } from './parse-responses.ts';
import { perform } from './reference-store.ts';
import type { Stored } from './reference-store.ts';
import type { Request } from './requests.ts';

/** The plants that may be stored after the requests on a connection. */
export interface Verdict {
  /** The possible states: more than one if the client did not wait for the responses. */
  readonly states: readonly Stored[];
  /** How many of a user's plants malformed requests may have created or deleted after this state. */
  readonly changes?: { readonly user: string; readonly count: number };
}

/** Checks the responses on one connection. Returns the plants that may be stored afterwards. */
export function checkConnection(script: Script, exchanged: Exchanged, before: Stored): Verdict {
  const { requests, malformed } = script;
  const isHead = (n: number): boolean => requests[n]?.method === 'HEAD';
  const { responses, rest } = parseResponses(exchanged.received, isHead, !isCut(script));
  assert.ok(rest === '' || isCut(script), `incomplete response: ${JSON.stringify(rest)}`);
  let stored = before;
  for (const [n, request] of requests.entries()) {
    const response = responses[n];
    if (response === undefined) {
      assert.ok(isCut(script), `no response to ${request.method} ${request.target.text}`);
      return { states: statesAfter(stored, requests.slice(n), exchanged.sent - lengthOf(requests.slice(0, n))) };
    }
    stored = checkResponse(request, response, stored);
    if (response.isLast) {
      assert.equal(responses.length, n + 1, 'a response after the final response of a connection');
      return { states: [stored] };
    }
  }
  const others = responses.slice(requests.length);
  const errors = others.map((response) => checkAnyResponse(response)?.error);
  if (malformed === undefined) {
    assert.deepEqual(others, []);
    return { states: [stored] };
  }
  const { user, isRefused } = malformed;
  if (isRefused) assert.deepEqual(errors, [40009]);
  const end = others.findIndex(({ isLast }, n) => isLast || errors[n] === 40009 || errors[n] === 43100);
  assert.ok(end === -1 || (end === others.length - 1 && others[end]?.isLast), 'the connection stays open');
  // Adds one, because a DELETE may have been executed although the final response refuses its malformed body.
  const count = isRefused ? 0 : others.filter(({ status }) => status < 300).length + 1;
  return { states: [stored], changes: { user, count } };
}

/** Returns the states that are possible after requests without a response. The client sent `sent` bytes of them. */
function statesAfter(stored: Stored, requests: readonly Request[], sent: number): Stored[] {
  const states = [stored];
  for (const [n, request] of requests.entries()) {
    const { operation } = expectation(request);
    // The server does not read the body of a DELETE.
    const isSent = sent >= lengthOf(requests.slice(0, n + 1)) || operation?.kind === 'delete';
    if (operation !== undefined && isSent) states.push((stored = perform(operation, stored).stored));
  }
  return states;
}

function lengthOf(requests: readonly Request[]): number {
  return requests.reduce((sum, { bytes }) => sum + bytes.length, 0);
}

/** Checks that the response to a well-formed request is exactly as specified. Returns the plants stored afterwards. */
function checkResponse(request: Request, response: ParsedResponse, stored: Stored): Stored {
  const { method, target, expectsContinue } = request;
  const { status, headers, interims, isLast } = response;
  const found = checkAnyResponse(response);
  const { operation, errors = [], allow, readsBody = false } = expectation(request);
  const outcome = operation === undefined ? { stored } : perform(operation, stored);
  const possible = outcome.error === undefined ? errors : [outcome.error];
  const error = possible.find((each) => each === found?.error) ?? possible[0];
  const isEmpty = error === undefined && (operation?.kind === 'delete' || operation?.kind === 'options');
  const json = error === undefined ? outcome.json : { error };
  // The server may close the connection if it does not read a body or does not send 100 Continue.
  const isUnread = (request.body !== '' || expectsContinue) && (!readsBody || error === 40008);
  const line = `${method} ${target.text}`;
  assert.deepEqual(
    { line, status, interims, isLast, allow: headers.get('allow'), link: headers.get('link'), found },
    {
      line,
      status: error === undefined ? (isEmpty ? 204 : 200) : Math.floor(error / 100),
      interims: readsBody && expectsContinue ? 1 : 0,
      isLast: request.isLast === 'maybe' || isUnread ? isLast : request.isLast,
      allow,
      link: outcome.link,
      found: isEmpty || method === 'HEAD' ? undefined : operation?.kind === 'openapi' ? found : json,
    },
  );
  return outcome.stored;
}

/** Checks the rules for every response. Returns the JSON of the body, but only the integer if it is an Error. */
function checkAnyResponse({ status, headers, body }: ParsedResponse): { error?: unknown } | undefined {
  const what = `${status} ${body.slice(0, 300)}`;
  assert.ok(!body.includes(secret), `${what} contains a plant of another user`);
  assert.ok(status < 500, what);
  assert.equal(headers.get('content-type'), status === 204 ? undefined : 'application/json', what);
  if (body === '') return undefined;
  const json = JSON.parse(Buffer.from(body, 'latin1').toString('utf8')) as { error?: unknown; message?: unknown };
  if (status < 400) return json;
  assert.deepEqual([Object.keys(json), typeof json.message], [['error', 'message'], 'string']);
  assert.equal(Math.floor(Number(json.error) / 100), status, what);
  return { error: json.error };
}
