import { checksOf, each } from '../check-case.ts';
import type { Check, CheckCase } from '../check-case.ts';
import type { CheckClient } from '../check-client.ts';
import type { Exchange } from '../exchange.ts';
import { expectChallenge, expectError, expectList, expectStatus, expectSuccess } from '../expect.ts';
import { unknownToken } from './bad-input.ts';

/**
 * Returns a check of the response of each operation to each of these `Authorization` headers. If a header is
 * `undefined`, the requests are sent without it.
 */
function responses(
  credentials: (client: CheckClient) => readonly (string | undefined)[],
  check: (sent: Exchange) => Promise<unknown>,
): Check {
  return each(credentials, async (client, authorization) => {
    const [plant, headers] = [client.newPlant(), { authorization }];
    client.a.track(plant.id);
    const sent = [
      await client.anonymous.send('GET /plants', { headers }),
      await client.anonymous.create(plant, headers),
      await client.anonymous.send(`DELETE /plants/${plant.id}`, { headers }),
    ];
    for (const exchange of sent) await check(exchange);
  });
}

async function expectInvalidToken(sent: Exchange): Promise<void> {
  await expectError(sent, 401);
  await expectChallenge(sent, { realm: 'plants', error: 'invalid_token' });
}

/** Returns malformed `Authorization` header values that begin with the `Bearer` scheme. */
function malformedCredentials({ tokens: { a, b } }: CheckClient): string[] {
  const values = ['', ' =', ` ${a} ${a}`, ` "${a}"`, `\t${a}`, ` ${a},`, ` ${a}, Bearer ${b}`];
  return values.map((value) => `Bearer${value}`);
}

/** The checks of bearer token authentication (RFC 6750, The OAuth 2.0 Authorization Framework: Bearer Token Usage). */
export const authenticationCases: readonly CheckCase[] = checksOf('Authentication', {
  'auth-missing-get MUST respond to GET /plants without credentials with 401': (c) =>
    expectError(c.anonymous.list(), 401),
  'auth-missing-post MUST respond to POST /plants without credentials with 401, and store nothing': async (
    c,
    plant,
  ) => {
    c.a.track(plant.id);
    await expectError(c.anonymous.create(plant), 401);
    await expectError(c.a.remove(plant.id), 404);
  },
  'auth-missing-delete MUST respond to DELETE /plants/{id} without credentials with 401, and keep the plant': (c) =>
    expectKept(c, c.anonymous, 401),
  'auth-missing-challenge MUST send WWW-Authenticate: Bearer realm="plants" with a 401 [RFC 6750 §3]': responses(
    () => [undefined],
    (sent) => expectChallenge(sent, { realm: 'plants' }),
  ),
  'auth-missing-no-error SHOULD NOT send an error code if the request has no credentials [RFC 6750 §3.1]': responses(
    () => [undefined],
    async (sent) => {
      await expectError(sent, 401);
      await expectChallenge(sent, { realm: 'plants', error: undefined });
    },
  ),
  'auth-unknown-token MUST respond to an unknown token with 401 and error="invalid_token" [RFC 6750 §3.1]': responses(
    () => [unknownToken],
    expectInvalidToken,
  ),
  'auth-malformed MUST respond to a malformed token with 401 and error="invalid_token" [RFC 6750 §3.1]': responses(
    malformedCredentials,
    expectInvalidToken,
  ),
  'auth-other-scheme MUST respond to credentials of another scheme with 401 [RFC 9110 §15.5.2]': responses(
    ({ tokens }) => ['Basic', 'Bearers', 'Token'].map((scheme) => `${scheme} ${tokens.a}`),
    (sent) => expectError(sent, 401),
  ),
  'auth-scheme-case MUST accept the scheme in upper and lower case [RFC 9110 §11.1]': each(
    ['bearer', 'BEARER', 'bEARER'],
    expectAccepted,
  ),
  'auth-spaces MUST accept several spaces after the scheme [RFC 6750 §2.1]': (c) => expectAccepted(c, 'Bearer  '),
  'auth-not-in-query MUST NOT accept a token in the query string [scheme]': each(
    ['access_token', 'token', 'authorization'],
    ({ anonymous, tokens }, name) => expectError(anonymous.list(`${name}=${encodeURIComponent(tokens.a)}`), 401),
  ),
  'auth-not-in-form MUST NOT accept a token in a form [scheme]': ({ anonymous, tokens }) => {
    const body = new URLSearchParams({ access_token: tokens.a }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    return expectError(anonymous.send('POST /plants', { body, headers }), 401);
  },
});

/** Checks that the server accepts a valid token after this scheme and a space. */
function expectAccepted({ anonymous, tokens }: CheckClient, scheme: string): Promise<unknown> {
  return expectSuccess(anonymous.send('GET /plants', { headers: { authorization: `${scheme} ${tokens.a}` } }));
}

/** Checks that a user cannot delete a plant of user A, and receives an error with this status. */
async function expectKept(client: CheckClient, user: CheckClient['a'], status: number): Promise<void> {
  const plant = await client.createPlant();
  await expectError(user.remove(plant.id), status);
  await client.expectMine([plant]);
}

/** Checks of requests with a token that has only the scope `plants:read`. */
export const scopeCases: readonly CheckCase[] = checksOf('RFC 6750 §3.1', {
  'scope-read MUST let a read-only token list plants': (c) => expectList(expectStatus(c.readOnly().list(), 200)),
  'scope-create MUST respond to POST /plants with a read-only token with 403, and store nothing': async (c, plant) => {
    // The user of the read-only token is unknown and may be user A.
    c.a.track(plant.id);
    await expectError(c.readOnly().create(plant), 403);
    await expectError(c.a.remove(plant.id), 404);
  },
  'scope-delete MUST respond to DELETE /plants/{id} with a read-only token with 403': async (c) =>
    expectKept(c, c.readOnly(), 403),
  'scope-challenge MUST send error="insufficient_scope" and the missing scope with a 403': (c, plant) => {
    const parameters = { realm: 'plants', error: 'insufficient_scope', scope: 'plants:write' };
    return expectChallenge(c.readOnly().create(plant), parameters);
  },
});
