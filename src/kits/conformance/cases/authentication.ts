import { must, plantStore, should } from '../check-case.ts';
import type { CheckCase } from '../check-case.ts';
import { parseChallenge } from '../challenge.ts';
import type { CheckClient } from '../check-client.ts';
import type { CheckUser } from '../check-user.ts';
import type { Exchange } from '../exchange.ts';
import { expect, expectError, expectSuccess } from '../expect.ts';

/**
 * Sends one request to each operation, with `authorization` as the value of the `Authorization` header, in place of the
 * user's token. If `authorization` is `undefined`, the requests are sent without this header.
 */
async function callAll(client: CheckClient, user: CheckUser, authorization?: string): Promise<Exchange[]> {
  const { id, name } = client.newPlant();
  client.a.track([id]);
  const headers = { authorization };
  const body = `{"id":${id},"name":${JSON.stringify(name)}}`;
  return [
    await user.send('GET', '/plants', { headers }),
    await user.send('POST', '/plants', { body, headers }),
    await user.send('DELETE', `/plants/${id}`, { headers }),
  ];
}

function expectChallenge(exchange: Exchange, error: string | undefined): void {
  expectError(exchange, 401);
  const { scheme, parameters } = parseChallenge(exchange.response.headers.get('www-authenticate') ?? '');
  const ending = error === undefined ? '' : `, error="${error}"`;
  const isRight = scheme === 'bearer' && parameters.get('realm') === 'plants' && parameters.get('error') === error;
  expect(isRight, exchange, `WWW-Authenticate: Bearer realm="plants"${ending}`);
}

/** Returns malformed `Authorization` header values that begin with the `Bearer` scheme. */
function malformedCredentials({ a: { token = '' }, b }: CheckClient): string[] {
  return [
    'Bearer',
    'Bearer =',
    `Bearer ${token} ${token}`,
    `Bearer "${token}"`,
    `Bearer\t${token}`,
    `Bearer ${token},`,
    `Bearer ${token}, Bearer ${b.token ?? ''}`,
  ];
}

/** The checks of bearer token authentication (RFC 6750, The OAuth 2.0 Authorization Framework: Bearer Token Usage). */
export const authenticationCases: readonly CheckCase[] = [
  must(
    'auth-missing-get',
    'respond to GET /plants without credentials with 401',
    plantStore('Authentication'),
    async ({ anonymous }) => {
      expectError(await anonymous.list(), 401);
    },
  ),
  must(
    'auth-missing-post',
    'respond to POST /plants without credentials with 401, and store nothing',
    plantStore('Authentication'),
    async (client) => {
      const plant = client.newPlant();
      client.a.track([plant.id]);
      expectError(await client.anonymous.create(plant), 401);
      expectError(await client.a.remove(plant.id), 404);
    },
  ),
  must(
    'auth-missing-delete',
    'respond to DELETE /plants/{id} without credentials with 401, and keep the plant',
    plantStore('Authentication'),
    async (client) => {
      const plant = client.newPlant();
      await client.a.mustCreate(plant);
      expectError(await client.anonymous.remove(plant.id), 401);
      const { plants, exchange } = await client.a.listMarked(client.marker);
      expect(plants.length === 1, exchange, `the plant ${plant.name}`);
    },
  ),
  must(
    'auth-missing-challenge',
    'send WWW-Authenticate: Bearer realm="plants" with a 401',
    'RFC 6750 §3',
    async (client) => {
      for (const exchange of await callAll(client, client.anonymous)) {
        const { scheme, parameters } = parseChallenge(exchange.response.headers.get('www-authenticate') ?? '');
        const isRight = scheme === 'bearer' && parameters.get('realm') === 'plants';
        expect(isRight, exchange, 'WWW-Authenticate: Bearer realm="plants"');
      }
    },
  ),
  should(
    'auth-missing-no-error',
    'NOT send an error code if the request has no credentials',
    'RFC 6750 §3.1',
    async (client) => {
      for (const exchange of await callAll(client, client.anonymous)) expectChallenge(exchange, undefined);
    },
  ),
  must(
    'auth-unknown-token',
    'respond to an unknown token with 401 and error="invalid_token"',
    'RFC 6750 §3.1',
    async (client) => {
      for (const exchange of await callAll(client, client.anonymous, 'Bearer plant-store-check-unknown-token')) {
        expectChallenge(exchange, 'invalid_token');
      }
    },
  ),
  must(
    'auth-malformed',
    'respond to a malformed token with 401 and error="invalid_token"',
    'RFC 6750 §3.1',
    async (client) => {
      for (const authorization of malformedCredentials(client)) {
        for (const exchange of await callAll(client, client.anonymous, authorization)) {
          expectChallenge(exchange, 'invalid_token');
        }
      }
    },
  ),
  must('auth-other-scheme', 'respond to credentials of another scheme with 401', 'RFC 9110 §15.5.2', async (client) => {
    for (const scheme of ['Basic', 'Bearers', 'Token']) {
      for (const exchange of await callAll(client, client.anonymous, `${scheme} ${client.a.token ?? ''}`)) {
        expectError(exchange, 401);
      }
    }
  }),
  must(
    'auth-scheme-case',
    'accept the scheme in upper and lower case',
    'RFC 9110 §11.1',
    async ({ anonymous, a: { token } }) => {
      for (const scheme of ['bearer', 'BEARER', 'bEARER']) {
        expectSuccess(
          await anonymous.send('GET', '/plants', { headers: { authorization: `${scheme} ${token ?? ''}` } }),
        );
      }
    },
  ),
  must(
    'auth-spaces',
    'accept several spaces after the scheme',
    'RFC 6750 §2.1',
    async ({ anonymous, a: { token } }) => {
      expectSuccess(await anonymous.send('GET', '/plants', { headers: { authorization: `Bearer   ${token ?? ''}` } }));
    },
  ),
  must(
    'auth-not-in-query',
    'NOT accept a token in the query string',
    plantStore('scheme'),
    async ({ anonymous, a: { token = '' } }) => {
      for (const name of ['access_token', 'token', 'authorization']) {
        expectError(await anonymous.list(`${name}=${encodeURIComponent(token)}`), 401);
      }
    },
  ),
  must(
    'auth-not-in-form',
    'NOT accept a token in a form',
    plantStore('scheme'),
    async ({ anonymous, a: { token = '' } }) => {
      const body = new URLSearchParams({ access_token: token }).toString();
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      expectError(await anonymous.send('POST', '/plants', { body, headers }), 401);
    },
  ),
];
