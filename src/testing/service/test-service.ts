import { after, before, describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { authenticationChecks, isolationChecks, scopeChecks } from './checks/access.ts';
import { concurrencyChecks } from './checks/concurrency.ts';
import { createFailureChecks, errorChecks, orderChecks } from './checks/errors.ts';
import { listChecks } from './checks/list.ts';
import { methodChecks } from './checks/methods.ts';
import { openApiChecks } from './checks/openapi.ts';
import { createChecks, deleteChecks } from './checks/plants.ts';
import { recommendations } from './checks/recommendations.ts';
import { int64Checks, stringChecks } from './checks/values.ts';
import { Client } from './client.ts';
import { NotRun, Unexpected } from './exchange.ts';
import type { Check, Checks } from './expect.ts';
import { explain } from './failure.ts';
import { checkOptions, checkUrl } from './options.ts';
import type { ServerContext, ServiceTestOptions } from './options.ts';
import { preflight } from './preflight.ts';

/** The keys are the titles of the suites. */
const parts: Readonly<Record<string, Checks>> = {
  'Create Plant': createChecks,
  'Get Plants': listChecks,
  'Delete Plant': deleteChecks,
  access: isolationChecks,
  Authentication: authenticationChecks,
  scopes: scopeChecks,
  int64: int64Checks,
  'name, tag': stringChecks,
  'create failures': createFailureChecks,
  Error: errorChecks,
  'order of checks': orderChecks,
  'HEAD, OPTIONS': methodChecks,
  consistency: concurrencyChecks,
  'the interface itself': openApiChecks,
  recommendations,
};

/** After this many consecutive tests without a response, the remaining tests are skipped. */
const maxUnanswered = 3;

/**
 * Registers tests of node:test that check a server, written in any language, against the Plant Store interface. For
 * both users, the tests create plants with random ids and with the ids 0, -2^63 and 2^63-1, and delete them again. A
 * server that breaks a MUST fails the test; a broken SHOULD is reported as a failing `todo` test, which does not fail
 * the run.
 *
 * @throws {TypeError} if an option is invalid; the message names the option.
 * @example
 * testService('my server', { url: 'http://localhost:3000', tokens: { a: tokenOfAda, b: tokenOfBob } });
 */
export function testService(name: string, options: ServiceTestOptions): void {
  checkOptions(options);
  registerTests(name, options, /(?:)/);
}

/** Registers the tests whose part and title match `only`. */
export function registerTests(name: string, options: ServiceTestOptions, only: RegExp): void {
  const client = new Client(options);
  let unanswered = 0;

  async function run(t: TestContext, check: Check, isRecommendation: boolean): Promise<void> {
    if (unanswered >= maxUnanswered) {
      t.skip('The server did not respond to earlier tests.');
      return;
    }
    try {
      await check(client, client.newPlant());
      unanswered = 0;
    } catch (error) {
      if (error instanceof NotRun) {
        t.skip(error.message);
        return;
      }
      if (isRecommendation) t.todo('The rule is a SHOULD.');
      if (!(error instanceof Unexpected)) throw error;
      unanswered = error.exchange.status === 0 ? unanswered + 1 : 0;
      throw explain(error, client.baseUrl, client.tokens);
    } finally {
      await client.cleanUp();
    }
  }

  describe(name, () => {
    const cleanUps: (() => Promise<void> | void)[] = [];
    before(async () => {
      const { url } = options;
      const context: ServerContext = { after: (cleanUp) => void cleanUps.unshift(cleanUp) };
      client.baseUrl = checkUrl(typeof url === 'string' ? url : await url(context));
      await preflight(client);
    });
    after(async () => {
      for (const cleanUp of cleanUps) await cleanUp();
    });
    for (const [part, checks] of Object.entries(parts)) {
      const selected = Object.entries(checks).filter(([title]) => only.test(`${part} ${title}`));
      if (selected.length === 0) continue;
      describe(part, () => {
        for (const [title, check] of selected) it(title, (t) => run(t, check, checks === recommendations));
      });
    }
  });
}
