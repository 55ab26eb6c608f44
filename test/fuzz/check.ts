import assert from 'node:assert/strict';
import type { Plant } from '../../src/index.ts';
import type { ReferenceStore } from '../support/reference-store.ts';
import { expectation } from './expectation.ts';
import type { Operation } from './expectation.ts';
import { parseResponses } from './parse-responses.ts';
import type { ParsedResponse } from './parse-responses.ts';
import type { Request } from './requests.ts';
import { isCut } from './script.ts';
import type { Exchanged, Script } from './script.ts';

/** A text that is part of each of the stranger's plant names. */
export const secret = 'nobody-may-see-this';
/** The largest limit of a list with a Link header. */
const maxPage = 1000;

/** The plants that may be stored after the requests on a connection. */
export interface Verdict {
  /** The possible states: more than one if the client did not wait for the responses. */
  readonly states: readonly ReferenceStore[];
  /** How many of a user's plants malformed requests may have created or deleted after this state. */
  readonly changes?: { readonly user: string; readonly count: number };
}

/** Checks the responses on one connection. Returns the plants that may be stored afterwards. */
export function checkConnection(script: Script, exchanged: Exchanged, before: ReferenceStore): Verdict {
  const { requests, malformed } = script;
  const stored = before.copy();
  const { responses, rest } = parseResponses(exchanged.received, (n) => requests[n]?.method === 'HEAD');
  assert.ok(rest === '' || isCut(script), `incomplete response: ${JSON.stringify(rest)}`);
  for (const [n, request] of requests.entries()) {
    const response = responses[n];
    if (response === undefined) {
      // After a syntax error, requests that wait for an earlier response are not performed.
      if (malformed !== undefined && n > 0) return { states: [stored] };
      assert.ok(isCut(script), `no response to ${request.method} ${request.target}`);
      return { states: statesAfter(stored, requests.slice(n), exchanged.sent - lengthOf(requests.slice(0, n))) };
    }
    checkResponse(request, response, stored);
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
  // While an earlier response is in progress, the server closes the connection after it, without an Error.
  if (isRefused && errors.length > 0) assert.deepEqual(errors, [40009]);
  const end = others.findIndex(({ isLast }, n) => isLast || errors[n] === 40009 || errors[n] === 43100);
  assert.ok(end === -1 || (end === others.length - 1 && others[end]?.isLast), 'the connection stays open');
  // Adds one, because a DELETE may have been executed although the final response refuses its malformed body.
  const count = isRefused ? 0 : others.filter(({ status }) => status < 300).length + 1;
  return { states: [stored], changes: { user, count } };
}

/** Returns the states that are possible after requests without a response. The client sent `sent` bytes of them. */
function statesAfter(stored: ReferenceStore, requests: readonly Request[], sent: number): ReferenceStore[] {
  const states = [stored];
  for (const [n, request] of requests.entries()) {
    const { operation } = expectation(request);
    // The server does not read the body of a DELETE.
    const isSent = sent >= lengthOf(requests.slice(0, n + 1)) || operation?.kind === 'delete';
    if (operation === undefined || !isSent) continue;
    const next = (states.at(-1) ?? stored).copy();
    perform(operation, next);
    states.push(next);
  }
  return states;
}

function lengthOf(requests: readonly Request[]): number {
  return requests.reduce((sum, { bytes }) => sum + bytes.length, 0);
}

/** Performs an operation. Returns the expected error, or the expected body and Link header. */
function perform(operation: Operation, stored: ReferenceStore): { error?: number; json?: unknown; link?: string } {
  switch (operation.kind) {
    case 'create': {
      const { user, plant } = operation;
      return stored.create(user, plant) ? { json: shown(plant) } : { error: 40003 };
    }
    case 'delete':
      return stored.delete(operation.user, operation.id) ? {} : { error: 40402 };
    case 'list': {
      const { user, limit = Infinity } = operation;
      const page = stored.list(user, operation);
      const last = page.at(-1);
      const hasLink =
        limit <= maxPage && last !== undefined && stored.list(user, { after: last.id, limit: 1 }).length > 0;
      const json = page.map(shown);
      return { json, ...(hasLink && { link: `</plants?limit=${limit}&after=${last.id}>; rel="next"` }) };
    }
    default:
      return {};
  }
}

function shown({ name, tag }: Plant): object {
  return tag === undefined ? { name } : { name, tag };
}

/** Checks that the response to a well-formed request is exactly as specified, and performs its operation. */
function checkResponse(request: Request, response: ParsedResponse, stored: ReferenceStore): void {
  const { method, target } = request;
  const { status, headers } = response;
  const found = checkAnyResponse(response);
  const { operation, errors = [], allow } = expectation(request);
  const outcome = operation === undefined ? {} : perform(operation, stored);
  const possible = outcome.error === undefined ? errors : [outcome.error];
  const error = possible.find((each) => each === found?.error) ?? possible[0];
  const isEmpty = error === undefined && (operation?.kind === 'delete' || operation?.kind === 'options');
  const json = error === undefined ? outcome.json : { error };
  const line = `${method} ${target}`;
  assert.deepEqual(
    { line, status, allow: headers.get('allow'), link: headers.get('link'), found },
    {
      line,
      status: error === undefined ? (isEmpty ? 204 : 200) : Math.floor(error / 100),
      allow,
      link: outcome.link,
      found: isEmpty || method === 'HEAD' ? undefined : operation?.kind === 'openapi' ? found : json,
    },
  );
}

/** Checks the rules for every response. Returns the JSON of the body, but only the integer if it is an Error. */
function checkAnyResponse({ status, headers, body }: ParsedResponse): { error?: unknown } | undefined {
  const what = `${status} ${body.slice(0, 300)}`;
  assert.ok(!body.includes(secret), `${what} contains a plant of another user`);
  assert.ok(status < 500, what);
  if (body === '') return undefined;
  assert.equal(headers.get('content-type'), 'application/json', what);
  const json = JSON.parse(Buffer.from(body, 'latin1').toString('utf8')) as { error?: unknown; message?: unknown };
  if (status < 400) return json;
  assert.deepEqual([Object.keys(json), typeof json.message], [['error', 'message'], 'string']);
  assert.equal(Math.floor(Number(json.error) / 100), status, what);
  return { error: json.error };
}
