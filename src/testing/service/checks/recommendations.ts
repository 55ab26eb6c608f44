import { createPlant, expect, fieldsOf, headerOf, expectJson, expectStatus } from '../expect.ts';
import type { Checks } from '../expect.ts';
import { failures } from './failures.ts';

/** Tests of recommendations (SHOULD). A failed test does not fail the run. */
export const recommendations: Checks = {
  'auth-missing-no-error SHOULD NOT send an error code if there are no credentials [RFC 6750 §3.1]': async (c) => {
    const sent = await expectStatus(c.anonymous.list(), 401);
    expect(!/\berror=/i.test(headerOf(sent, 'www-authenticate')), sent, 'WWW-Authenticate without error');
  },
  'auth-invalid-token SHOULD send error="invalid_token" for a wrong token [RFC 6750 §3.1]': async (c) => {
    const sent = await expectStatus(c.stranger.list(), 401);
    const isRight = /\berror="?invalid_token\b/i.test(headerOf(sent, 'www-authenticate'));
    expect(isRight, sent, 'WWW-Authenticate: Bearer with error="invalid_token"');
  },
  'scope-challenge SHOULD send error="insufficient_scope" and scope="plants:write" with a 403 [RFC 6750 §3.1]': async (
    c,
  ) => {
    const sent = await expectStatus(c.readOnly().create(c.newPlant()), 403);
    const challenge = headerOf(sent, 'www-authenticate');
    for (const parameter of ['error="insufficient_scope"', 'scope="plants:write"']) {
      expect(challenge.includes(parameter), sent, `WWW-Authenticate: Bearer with ${parameter}`);
    }
  },
  'error-integers SHOULD use the integers that Plant Store documents': async (c) => {
    for (const [integer, fail] of Object.entries(failures)) {
      const sent = await fail(c.a, c.newPlant(), c);
      expect(fieldsOf(expectJson(sent))['error'] === Number(integer), sent, `the error ${integer}`);
    }
  },
  'header-no-store SHOULD send Cache-Control: no-store, because plants are private [RFC 9111 §5.2.2.5]': async (c) => {
    await createPlant(c);
    const sent = await c.a.list();
    expect(/\bno-store\b/i.test(headerOf(sent, 'cache-control')), sent, 'Cache-Control: no-store');
  },
};
