import type { Client, NewPlant, User } from '../client.ts';
import { createPlant, expect, expectError, expectHeader, expectMine, expectPlant, expectStatus } from '../expect.ts';
import { inTurn } from '../expect.ts';
import type { Check, Checks } from '../expect.ts';

const challenge = 'www-authenticate';
const form = { 'content-type': 'application/x-www-form-urlencoded' };
const text = { 'content-type': 'text/plain' };

/** Checks that a user cannot create a plant or delete one of user A, but receives errors with this status. */
async function expectNoWrite(c: Client, user: User, status: number): Promise<void> {
  const kept = await createPlant(c);
  await expectError(user.create(c.newPlant()), status);
  await expectError(user.remove(kept.id), status);
  await expectMine(c, [kept]);
}

async function expectNoAccess(c: Client, user: User): Promise<void> {
  await expectError(user.list(), 401);
  await expectStatus(user.send('HEAD /plants'), 401);
  await expectNoWrite(c, user, 401);
}

/**
 * Returns a check that calls `check` with a plant of user A, and then with a plant of user B. A server might separate
 * users in one direction only, for example if it compares only the beginning of user names.
 */
function isolates(check: (client: Client, plant: NewPlant, owner: User, other: User) => Promise<unknown>): Check {
  return async (c) => {
    await check(c, await createPlant(c, c.a), c.a, c.b);
    await c.cleanUp();
    await check(c, await createPlant(c, c.b), c.b, c.a);
  };
}

export const accessChecks: Checks = {
  'auth-missing MUST respond with 401 to every operation on plants without credentials, and change nothing': (c) =>
    expectNoAccess(c, c.anonymous),
  'auth-challenge MUST send WWW-Authenticate: Bearer with a 401 [RFC 6750 §3]': async ({ anonymous }) => {
    const sent = await expectStatus(anonymous.list(), 401);
    expectHeader(sent, challenge, /^Bearer\b/i, 'WWW-Authenticate: Bearer');
  },
  'auth-wrong-token MUST respond with 401 to an unknown, malformed or truncated token [RFC 6750 §2.1]': async (c) => {
    await expectNoAccess(c, c.stranger);
    const { a, b } = c.tokens;
    const otherCase = a.replaceAll(/[a-z]/gi, (letter) => String.fromCharCode(letter.charCodeAt(0) ^ 32));
    const wrong = [` ${otherCase}`, '', ' =', ` ${a} ${a}`, ` "${a}"`, `\t${a}`, ` ${a},`, ` ${a}, Bearer ${b}`];
    const cut = [1, a.length >> 1, a.length - 1].map((length) => ` ${a.slice(0, length)}`);
    await inTurn([...wrong, ...cut, ` ${a}x`], (value) =>
      expectError(c.anonymous.list('', { authorization: `Bearer${value}` }), 401),
    );
  },
  'auth-other-scheme MUST respond with 401 to credentials of another scheme [RFC 9110 §15.5.2]': (c) =>
    inTurn(['Basic', 'Bearers', 'Bearer-x', 'Basic bearer', 'Token'], (scheme) =>
      expectError(c.anonymous.list('', { authorization: `${scheme} ${c.tokens.a}` }), 401),
    ),
  'auth-scheme-case MUST accept the scheme in any case, and several spaces after it [RFC 6750 §2.1]': (c) =>
    inTurn(['bearer', 'BEARER', 'bEARER', 'Bearer  '], (scheme) =>
      expectStatus(c.anonymous.list('', { authorization: `${scheme} ${c.tokens.a}` }), 200),
    ),
  'auth-not-in-query MUST NOT accept a token in the query string or in a form': async ({ anonymous, tokens }) => {
    const token = `access_token=${encodeURIComponent(tokens.a)}`;
    await expectError(anonymous.send('POST /plants', token, form), 401);
    await expectError(anonymous.list(token), 401);
  },
  'auth-error SHOULD send error="invalid_token" only for a wrong token [RFC 6750 §3.1]': async (c) => {
    expectHeader(await c.anonymous.list(), challenge, /^(?!.*error=)/, 'WWW-Authenticate without error');
    const what = 'WWW-Authenticate: Bearer with error="invalid_token"';
    expectHeader(await c.stranger.list(), challenge, /\berror="?invalid_token\b/, what);
  },
  'isolation-list MUST NOT list the plants of other users': isolates((c, { id }, _, other) =>
    inTurn(['', 'limit=1000', `after=${id - 1n}`, `after=${id - 1n}&limit=1`], (query) =>
      expectMine(c, [], other, query),
    ),
  ),
  'isolation-delete MUST treat the plant of another user as absent': isolates(async (c, plant, owner, other) => {
    const foreign = await expectStatus(other.remove(plant.id), 404);
    await expectMine(c, [plant], owner);
    await owner.remove(plant.id);
    const absent = await other.remove(plant.id);
    expect(foreign.text === absent.text, foreign, `the body for an absent plant: ${absent.text}`);
  }),
  'isolation-same-id MUST keep plants of two users with the same id apart': isolates(async (c, plant, owner, other) => {
    const same = c.newPlant(plant.id);
    await expectPlant(other.create(same), same);
    await expectMine(c, [plant], owner);
    await expectStatus(other.remove(plant.id), 204);
    await expectMine(c, [plant], owner);
  }),
  'order-path MUST check the path and the method before the credentials': async ({ anonymous }) => {
    await expectError(anonymous.send('GET /no-such-path'), 404);
    await expectError(anonymous.send('PATCH /plants'), 405);
  },
  'order-credentials MUST check the credentials before the body, the query and the id': async ({ anonymous }) => {
    await expectError(anonymous.send('POST /plants', 'x', text), 401);
    await inTurn(['{}', '', undefined], (body) => expectError(anonymous.post(body), 401));
    await inTurn(['limit', 'after'], (name) => expectError(anonymous.list(`${name}=x`), 401));
    await expectError(anonymous.remove('x'), 401);
  },
};

/** Checks of a token that has only the scope `plants:read`. Its user is unknown, and may be user A. */
export const scopeChecks: Checks = {
  'scope-read MUST let a read-only token list plants': (c) => expectStatus(c.reader.list(), 200),
  'scope-write MUST respond with 403 if a read-only token creates or deletes a plant': (c) =>
    expectNoWrite(c, c.reader, 403),
  'scope-challenge SHOULD name the error and the missing scope in a 403 [RFC 6750 §3.1]': async (c, plant) => {
    const sent = await expectStatus(c.reader.create(plant), 403);
    expectHeader(sent, challenge, /error="insufficient_scope"/, 'WWW-Authenticate with error="insufficient_scope"');
    expectHeader(sent, challenge, /scope="plants:write"/, 'WWW-Authenticate with scope="plants:write"');
  },
  'order-scope MUST check the scope before the body and the id': async ({ reader }) => {
    await expectError(reader.send('POST /plants', 'x', text), 403);
    await expectError(reader.remove('x'), 403);
  },
};
