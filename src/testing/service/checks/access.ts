import type { Client, User } from '../client.ts';
import type { Exchange } from '../exchange.ts';
import { createPlant, expect, expectChallenge, expectError, expectList, expectMine, expectSuccess } from '../expect.ts';
import { expectStatus, inTurn } from '../expect.ts';
import type { Checks } from '../expect.ts';
import { unknownToken } from './bad-input.ts';

/** Sends one request for each operation, with this `Authorization` header or without one. Checks the responses. */
async function expectEach(
  c: Client,
  authorization: string | undefined,
  check: (sent: Exchange) => Promise<unknown>,
): Promise<void> {
  const [plant, headers] = [c.newPlant(), { authorization }];
  c.a.track(plant.id);
  await check(await c.anonymous.list('', headers));
  await check(await c.anonymous.create(plant, headers));
  await check(await c.anonymous.send(`DELETE /plants/${plant.id}`, { headers }));
}

/** Checks that the first challenge has this value of a parameter, or does not have the parameter. */
async function expectParameter(sent: Exchange, name: string, value: string | undefined): Promise<void> {
  const parameters = await expectChallenge(sent);
  const expected = value === undefined ? `no ${name}` : `${name}="${value}"`;
  expect(parameters.get(name) === value, sent, `WWW-Authenticate: Bearer with ${expected}`);
}

const malformed = ({ tokens: { a, b } }: Client): string[] =>
  ['', ' =', ` ${a} ${a}`, ` "${a}"`, `\t${a}`, ` ${a},`, ` ${a}, Bearer ${b}`].map((value) => `Bearer${value}`);

/** Checks that a user cannot create a plant but receives an error with this status. */
async function expectNotCreated(c: Client, user: User, status: number): Promise<void> {
  const plant = c.newPlant();
  c.a.track(plant.id);
  await expectError(user.create(plant), status);
  await expectMine(c, []);
}

/** Checks that a user cannot delete a plant of user A but receives an error with this status. */
async function expectKept(c: Client, user: User, status: number): Promise<void> {
  const plant = await createPlant(c);
  await expectError(user.remove(plant.id), status);
  await expectMine(c, [plant]);
}

/** The rules of RFC 6750. */
export const authenticationChecks: Checks = {
  'auth-missing MUST respond to every operation without credentials with 401, and change nothing': async (c) => {
    await expectError(c.anonymous.list(), 401);
    await expectNotCreated(c, c.anonymous, 401);
    await expectKept(c, c.anonymous, 401);
  },
  'auth-challenge MUST send WWW-Authenticate: Bearer with a 401 [RFC 6750 §3]': (c) =>
    expectEach(c, undefined, expectChallenge),
  'auth-realm SHOULD send realm="plants" with a 401': (c) =>
    expectEach(c, undefined, (sent) => expectParameter(sent, 'realm', 'plants')),
  'auth-missing-no-error SHOULD NOT send an error code if there are no credentials [RFC 6750 §3.1]': (c) =>
    expectEach(c, undefined, (sent) => expectParameter(sent, 'error', undefined)),
  'auth-wrong-token MUST respond to an unknown or malformed token with 401 [RFC 6750 §2.1]': (c) =>
    inTurn([unknownToken, ...malformed(c)], (value) => expectEach(c, value, (sent) => expectError(sent, 401))),
  'auth-invalid-token SHOULD send error="invalid_token" for a wrong token [RFC 6750 §3.1]': (c) =>
    inTurn([unknownToken, ...malformed(c)], (value) =>
      expectEach(c, value, (sent) => expectParameter(sent, 'error', 'invalid_token')),
    ),
  'auth-other-scheme MUST respond to credentials of another scheme with 401 [RFC 9110 §15.5.2]': (c) =>
    inTurn(['Basic', 'Bearers', 'Token'], (scheme) =>
      expectEach(c, `${scheme} ${c.tokens.a}`, (sent) => expectError(sent, 401)),
    ),
  'auth-scheme-case MUST accept the scheme in any case, and several spaces after it [RFC 6750 §2.1]': (c) =>
    inTurn(['bearer', 'BEARER', 'bEARER', 'Bearer  '], (scheme) =>
      expectSuccess(c.anonymous.list('', { authorization: `${scheme} ${c.tokens.a}` })),
    ),
  'auth-not-in-query MUST NOT accept a token in the query string or in a form': async ({ anonymous, tokens }) => {
    const body = new URLSearchParams({ access_token: tokens.a }).toString();
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    await expectError(anonymous.send('POST /plants', { body, headers }), 401);
    await inTurn(['access_token', 'token', 'authorization'], (name) =>
      expectError(anonymous.list(`${name}=${encodeURIComponent(tokens.a)}`), 401),
    );
  },
};

/** Tests of a token that has only the scope `plants:read`. Its user is unknown, and may be user A. */
export const scopeChecks: Checks = {
  'scope-read MUST let a read-only token list plants': (c) => expectList(expectStatus(c.readOnly().list(), 200)),
  'scope-write MUST refuse to create or delete plants with a read-only token with 403': async (c) => {
    await expectNotCreated(c, c.readOnly(), 403);
    c.beginTest();
    await expectKept(c, c.readOnly(), 403);
  },
  'scope-challenge SHOULD send error="insufficient_scope" and scope="plants:write" with a 403 [RFC 6750 §3.1]': async (
    c,
  ) => {
    const refused = await c.readOnly().create(c.newPlant());
    await expectParameter(refused, 'error', 'insufficient_scope');
    await expectParameter(refused, 'scope', 'plants:write');
  },
};
