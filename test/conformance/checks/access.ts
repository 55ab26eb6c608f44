import type { Client, NewPlant, User } from '../client.ts';
import { createPlant, expect, expectError, expectMine, expectPlant, expectStatus } from '../expect.ts';
import { headerOf, inTurn } from '../expect.ts';
import type { Check, Checks } from '../expect.ts';
import { garbage } from './errors.ts';

/** Checks that a user cannot create a plant or delete one of user A, but receives errors with this status. */
async function expectNoWrite(c: Client, user: User, status: number): Promise<void> {
  const [plant, kept] = [c.newPlant(), await createPlant(c)];
  await expectError(user.create(plant), status);
  await expectError(user.remove(kept.id), status);
  await expectMine(c, [kept]);
}

async function expectNoAccess(c: Client, user: User): Promise<void> {
  await expectError(user.list(), 401);
  await expectStatus(user.send('HEAD /plants'), 401);
  await expectNoWrite(c, user, 401);
}

export const authenticationChecks: Checks = {
  'auth-missing MUST respond to every operation without credentials with 401, and change nothing': async (c) => {
    await expectNoAccess(c, c.anonymous);
  },
  'auth-challenge MUST send WWW-Authenticate: Bearer with a 401 [RFC 6750 §3]': async ({ anonymous }) => {
    const sent = await expectStatus(anonymous.list(), 401);
    expect(/^Bearer\b/i.test(headerOf(sent, 'www-authenticate')), sent, 'WWW-Authenticate: Bearer');
  },
  'auth-wrong-token MUST respond to an unknown, malformed or cut token, or to one in another case, with 401 [RFC 6750 §2.1]':
    async (c) => {
      await expectNoAccess(c, c.stranger);
      const { a, b } = c.tokens;
      const otherCase = a.replaceAll(/[a-z]/gi, (letter) => String.fromCharCode(letter.charCodeAt(0) ^ 32));
      const wrong = [` ${otherCase}`, '', ' =', ` ${a} ${a}`, ` "${a}"`, `\t${a}`, ` ${a},`, ` ${a}, Bearer ${b}`];
      const cut = [1, a.length >> 1, a.length - 1].map((length) => ` ${a.slice(0, length)}`);
      for (const value of [...wrong, ...cut, ` ${a}x`]) {
        await expectError(c.anonymous.list('', { authorization: `Bearer${value}` }), 401);
      }
    },
  'auth-other-scheme MUST respond to credentials of another scheme with 401 [RFC 9110 §15.5.2]': (c) =>
    inTurn(['Basic', 'Bearers', 'Bearer-x', 'Basic bearer', 'Token'], (scheme) =>
      expectError(c.anonymous.list('', { authorization: `${scheme} ${c.tokens.a}` }), 401),
    ),
  'auth-scheme-case MUST accept the scheme in any case, and several spaces after it [RFC 6750 §2.1]': (c) =>
    inTurn(['bearer', 'BEARER', 'bEARER', 'Bearer  '], (scheme) =>
      expectStatus(c.anonymous.list('', { authorization: `${scheme} ${c.tokens.a}` }), 200),
    ),
  'auth-not-in-query MUST NOT accept a token in the query string or in a form': async ({ anonymous, tokens }) => {
    const body = `access_token=${encodeURIComponent(tokens.a)}`;
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    await expectError(anonymous.send('POST /plants', { body, headers }), 401);
    await expectError(anonymous.list(body), 401);
  },
  'auth-error SHOULD send error="invalid_token" for a wrong token, but no error without one [RFC 6750 §3.1]': async (
    c,
  ) => {
    const missing = await c.anonymous.list();
    expect(!headerOf(missing, 'www-authenticate').includes('error='), missing, 'WWW-Authenticate without error');
    const wrong = await c.stranger.list();
    const challenge = headerOf(wrong, 'www-authenticate');
    expect(/\berror="?invalid_token\b/.test(challenge), wrong, 'WWW-Authenticate: Bearer with error="invalid_token"');
  },
};

export const originChecks: Checks = {
  'cors-no-credentials MUST NOT let web pages of any origin send credentials [Fetch §3.3.3]': async ({ a }) => {
    const headers = { origin: 'https://attacker.example', 'access-control-request-method': 'GET' };
    for (const line of ['GET /plants?limit=0', 'OPTIONS /plants']) {
      const sent = await a.send(line, { headers });
      expect(
        headerOf(sent, 'access-control-allow-credentials') !== 'true',
        sent,
        'no Access-Control-Allow-Credentials',
      );
    }
  },
  'request-id-safe MUST NOT reflect an X-Request-Id with quotation marks or of more than 128 characters': (c) =>
    inTurn(['a"b', 'a\\b', 'x'.repeat(200)], async (id) => {
      const sent = await c.a.list('limit=0', { 'x-request-id': id });
      expect(headerOf(sent, 'x-request-id') !== id, sent, 'another X-Request-Id, or none');
    }),
};

/** Checks of a token that has only the scope `plants:read`. Its user is unknown, and may be user A. */
export const scopeChecks: Checks = {
  'scope-read MUST let a read-only token list plants': (c) => expectStatus(c.reader.list(), 200),
  'scope-write MUST refuse to create or delete plants with a read-only token with 403': (c) =>
    expectNoWrite(c, c.reader, 403),
  'scope-challenge SHOULD send error="insufficient_scope" and scope="plants:write" with a 403 [RFC 6750 §3.1]': async (
    c,
  ) => {
    const sent = await expectStatus(c.reader.create(c.newPlant()), 403);
    const challenge = headerOf(sent, 'www-authenticate');
    for (const parameter of ['error="insufficient_scope"', 'scope="plants:write"']) {
      expect(challenge.includes(parameter), sent, `WWW-Authenticate: Bearer with ${parameter}`);
    }
  },
  'order-scope MUST check the scope before the body and the id': async (c) => {
    await expectError(c.reader.send('POST /plants', garbage), 403);
    await expectError(c.reader.remove('x'), 403);
  },
};

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

export const isolationChecks: Checks = {
  'isolation-list MUST NOT list the plants of other users': isolates((c, { id }, _, other) =>
    inTurn(['', 'limit=1000', `after=${id - 1n}`, `after=${id - 1n}&limit=1`], (query) =>
      expectMine(c, [], other, query),
    ),
  ),
  'isolation-delete MUST respond to the DELETE of another user’s plant like to that of an absent one': isolates(
    async (c, plant, owner, other) => {
      const foreign = await expectStatus(other.remove(plant.id), 404);
      await expectMine(c, [plant], owner);
      await owner.remove(plant.id);
      const absent = await other.remove(plant.id);
      expect(foreign.text === absent.text, foreign, `the body for an absent plant: ${absent.text}`);
    },
  ),
  'isolation-same-id MUST let two users hold the same id, and delete only the caller’s plant': isolates(
    async (c, plant, owner, other) => {
      const same = c.newPlant(plant.id);
      await expectPlant(other.create(same), same);
      await expectMine(c, [plant], owner);
      await expectStatus(other.remove(plant.id), 204);
      await expectMine(c, [plant], owner);
    },
  ),
};
