import type { CheckClient } from '../check-client.ts';
import type { CheckUser, NewPlant } from '../check-user.ts';
import type { Exchange } from '../exchange.ts';
import { expectChallenge, expectError, expectList, expectStatus, expectSuccess } from '../expect.ts';
import { checksOf, inTurn } from '../run-cases.ts';
import type { CheckCase } from '../run-cases.ts';
import { unknownToken } from './bad-input.ts';

/** Sends one request for each operation, with this `Authorization` header or without one. Checks the responses. */
async function expectEach(
  client: CheckClient,
  authorization: string | undefined,
  check: (sent: Exchange) => Promise<unknown>,
): Promise<void> {
  const [plant, headers] = [client.newPlant(), { authorization }];
  client.a.track(plant.id);
  const sent = [
    await client.anonymous.list('', headers),
    await client.anonymous.create(plant, headers),
    await client.anonymous.remove(plant.id, headers),
  ];
  await inTurn(sent, check);
}

/** Returns a function that checks that a response is a 401. By default, its challenge must contain no error code. */
function unauthorized(error?: string): (sent: Exchange) => Promise<void> {
  return async (sent) => {
    await expectError(sent, 401);
    await expectChallenge(sent, { realm: 'plants', error });
  };
}

/** Checks that the server accepts a valid token after this scheme and a space. */
function expectAccepted({ anonymous, tokens }: CheckClient, scheme: string): Promise<unknown> {
  return expectSuccess(anonymous.list('', { authorization: `${scheme} ${tokens.a}` }));
}

/** Checks that a user cannot create a plant but receives an error with this status. */
async function expectNotCreated(client: CheckClient, plant: NewPlant, user: CheckUser, status: number): Promise<void> {
  client.a.track(plant.id);
  await expectError(user.create(plant), status);
  await expectError(client.a.remove(plant.id), 404);
}

/** Checks that a user cannot delete a plant of user A but receives an error with this status. */
async function expectKept(client: CheckClient, user: CheckUser, status: number): Promise<void> {
  const plant = await client.createPlant();
  await expectError(user.remove(plant.id), status);
  await client.expectMine([plant]);
}

/** The checks of bearer token authentication (RFC 6750, The OAuth 2.0 Authorization Framework: Bearer Token Usage). */
export const authenticationCases: readonly CheckCase[] = checksOf('Authentication', {
  'auth-missing-get MUST respond to GET /plants without credentials with 401': ({ anonymous }) =>
    expectError(anonymous.list(), 401),
  'auth-missing-post MUST respond to POST /plants without credentials with 401, and store nothing': (c, plant) =>
    expectNotCreated(c, plant, c.anonymous, 401),
  'auth-missing-delete MUST respond to DELETE /plants/{id} without credentials with 401, and keep the plant': (c) =>
    expectKept(c, c.anonymous, 401),
  'auth-missing-challenge MUST send WWW-Authenticate: Bearer realm="plants" with a 401 [RFC 6750 §3]': (c) =>
    expectEach(c, undefined, (sent) => expectChallenge(sent, { realm: 'plants' })),
  'auth-missing-no-error SHOULD NOT send an error code if the request has no credentials [RFC 6750 §3.1]': (c) =>
    expectEach(c, undefined, unauthorized()),
  'auth-unknown-token MUST respond to an unknown token with 401 and error="invalid_token" [RFC 6750 §3.1]': (c) =>
    expectEach(c, unknownToken, unauthorized('invalid_token')),
  'auth-malformed MUST respond to a malformed token with 401 and error="invalid_token" [RFC 6750 §3.1]': (c) => {
    const { a, b } = c.tokens;
    const values = ['', ' =', ` ${a} ${a}`, ` "${a}"`, `\t${a}`, ` ${a},`, ` ${a}, Bearer ${b}`];
    return inTurn(values, (value) => expectEach(c, `Bearer${value}`, unauthorized('invalid_token')));
  },
  'auth-other-scheme MUST respond to credentials of another scheme with 401 [RFC 9110 §15.5.2]': (c) =>
    inTurn(['Basic', 'Bearers', 'Token'], (scheme) =>
      expectEach(c, `${scheme} ${c.tokens.a}`, (sent) => expectError(sent, 401)),
    ),
  'auth-scheme-case MUST accept the scheme in upper and lower case [RFC 9110 §11.1]': (c) =>
    inTurn(['bearer', 'BEARER', 'bEARER'], (scheme) => expectAccepted(c, scheme)),
  'auth-spaces MUST accept several spaces after the scheme [RFC 6750 §2.1]': (c) => expectAccepted(c, 'Bearer  '),
  'auth-not-in-query MUST NOT accept a token in the query string [scheme]': ({ anonymous, tokens }) =>
    inTurn(['access_token', 'token', 'authorization'], (name) =>
      expectError(anonymous.list(`${name}=${encodeURIComponent(tokens.a)}`), 401),
    ),
  'auth-not-in-form MUST NOT accept a token in a form [scheme]': ({ anonymous, tokens }) => {
    const body = new URLSearchParams({ access_token: tokens.a }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    return expectError(anonymous.send('POST /plants', { body, headers }), 401);
  },
});

/** Checks of requests with a token that has only the scope `plants:read`. Its user is unknown, and may be user A. */
export const scopeCases: readonly CheckCase[] = checksOf('RFC 6750 §3.1', {
  'scope-read MUST let a read-only token list plants': (c) => expectList(expectStatus(c.readOnly().list(), 200)),
  'scope-create MUST respond to POST /plants with a read-only token with 403, and store nothing': (c, plant) =>
    expectNotCreated(c, plant, c.readOnly(), 403),
  'scope-delete MUST respond to DELETE /plants/{id} with a read-only token with 403': (c) =>
    expectKept(c, c.readOnly(), 403),
  'scope-challenge MUST send error="insufficient_scope" and the missing scope with a 403': (c, plant) => {
    const parameters = { realm: 'plants', error: 'insufficient_scope', scope: 'plants:write' };
    return expectChallenge(c.readOnly().create(plant), parameters);
  },
});
