import { after, before, describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { accessChecks, createChecks, deleteChecks } from './checks/plants.ts';
import { authenticationChecks, scopeChecks } from './checks/access.ts';
import { concurrencyChecks } from './checks/concurrency.ts';
import { errorChecks, errorCodeChecks, invalidPlantChecks, orderChecks } from './checks/invalid.ts';
import { listChecks, pagingChecks } from './checks/list.ts';
import { openApiChecks } from './checks/openapi.ts';
import { headerChecks, methodChecks } from './checks/protocol.ts';
import { int64Checks, stringChecks } from './checks/values.ts';
import { Client } from './client.ts';
import { NoResponse, NotRun } from './exchange.ts';
import type { Check, Checks } from './expect.ts';
import { explain } from './failure.ts';
import { checkOptions, checkUrl } from './options.ts';
import type { ServiceTestOptions } from './options.ts';
import { preflight } from './preflight.ts';

/** The tests, by the part of the interface that contains their rules. */
const parts: Readonly<Record<string, Checks>> = {
  'Create Plant': createChecks,
  'Get Plants': listChecks,
  'order, paging': pagingChecks,
  'Delete Plant': deleteChecks,
  access: accessChecks,
  Authentication: authenticationChecks,
  scopes: scopeChecks,
  int64: int64Checks,
  'name, tag': stringChecks,
  'create failures': invalidPlantChecks,
  Error: errorChecks,
  'error integer': errorCodeChecks,
  'order of checks': orderChecks,
  'HEAD, OPTIONS': methodChecks,
  headers: headerChecks,
  consistency: concurrencyChecks,
  'the interface itself': openApiChecks,
};

/** After this many consecutive tests with a timeout, the other tests are skipped, so that the run ends soon. */
const maxUnanswered = 3;

/**
 * Registers tests of node:test that check a server, written in any language, against the Plant Store interface. For
 * both users, the tests create plants and delete them again. They do not change the plants that the users already have.
 * A server that breaks a MUST fails the test; a broken SHOULD is reported as a failing `todo` test, which does not fail
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
  describe(name, () => {
    const cleanUps: (() => Promise<void> | void)[] = [];
    before(async () => {
      const { url } = options;
      const context = { after: (cleanUp: () => Promise<void> | void) => void cleanUps.push(cleanUp) };
      client.baseUrl = checkUrl(typeof url === 'string' ? url : await url(context));
      await preflight(client);
    });
    after(async () => {
      for (const cleanUp of cleanUps.reverse()) await cleanUp();
    });
    for (const [part, checks] of Object.entries(parts)) {
      const selected = Object.entries(checks).filter(([title]) => only.test(`${part} ${title}`));
      if (selected.length === 0) continue;
      describe(part, () => {
        for (const [title, check] of selected) {
          it(title, async (t) => {
            if (client.unanswered >= maxUnanswered) t.skip('The server did not respond to earlier tests.');
            else await runCheck(t, client, part, title, check);
          });
        }
      });
    }
  });
}

async function runCheck(t: TestContext, client: Client, part: string, title: string, check: Check): Promise<void> {
  client.beginTest();
  try {
    await check(client, client.newPlant());
    client.unanswered = 0;
  } catch (error) {
    if (error instanceof NotRun) {
      t.skip(error.message);
      return;
    }
    client.unanswered = error instanceof NoResponse && error.isTimeout ? client.unanswered + 1 : 0;
    if (/^\S+ SHOULD /.test(title)) t.todo('The rule is a SHOULD.');
    const source = /\[(.+)\]$/.exec(title)?.[1] ?? `Plant Store interface: ${part}`;
    throw explain(error, source, client.baseUrl, client.tokens);
  } finally {
    await client.cleanUp();
  }
}
