import { after, before, describe, it } from 'node:test';
import { CleanUp } from '../support/temporary-folder.ts';
import type { HasAfter } from '../support/temporary-folder.ts';
import { authenticationChecks, isolationChecks, originChecks, scopeChecks } from './checks/access.ts';
import { byteChecks } from './checks/bytes.ts';
import { concurrencyChecks } from './checks/concurrency.ts';
import { createFailureChecks } from './checks/create-failures.ts';
import { errorChecks, orderChecks } from './checks/errors.ts';
import { listChecks } from './checks/list.ts';
import { methodChecks } from './checks/methods.ts';
import { openApiChecks } from './checks/openapi.ts';
import { createChecks, deleteChecks } from './checks/plants.ts';
import { int64Checks, stringChecks } from './checks/values.ts';
import { Client } from './client.ts';
import type { Server, Tokens } from './client.ts';
import type { Checks } from './expect.ts';

/** The keys are the titles of the suites. */
const parts: Readonly<Record<string, Checks>> = {
  'Create Plant': createChecks,
  'Get Plants': listChecks,
  'Delete Plant': deleteChecks,
  access: isolationChecks,
  Authentication: authenticationChecks,
  origins: originChecks,
  scopes: scopeChecks,
  int64: int64Checks,
  'name, tag': stringChecks,
  'create failures': createFailureChecks,
  Error: errorChecks,
  'order of checks': orderChecks,
  'HEAD, OPTIONS': methodChecks,
  'HTTP below fetch': byteChecks,
  consistency: concurrencyChecks,
  'the interface itself': openApiChecks,
};

/**
 * Registers tests that check a server. A check whose rule is a SHOULD fails as a `todo`. `skipped` are the ids of checks
 * that do not run.
 */
export function testServer(
  name: string,
  start: (t: HasAfter) => Server | Promise<Server>,
  skipped: readonly string[] = [],
): void {
  describe(name, () => {
    const cleanUp = new CleanUp();
    let server: Server;
    before(async () => {
      server = await start(cleanUp);
    });
    after(() => cleanUp[Symbol.asyncDispose]());

    const reasonToSkip = (title: string, checks: Checks): string | undefined => {
      if (checks === scopeChecks && server.tokens.readOnly === undefined) return 'There is no read-only token.';
      if (checks === byteChecks && server.deliver !== undefined) return 'The server has no socket.';
      return skipped.includes(title.replace(/ .*/s, '')) ? 'Skipped.' : undefined;
    };

    for (const [part, checks] of Object.entries(parts)) {
      describe(part, () => {
        for (const [title, check] of Object.entries(checks)) {
          it(title, async (t) => {
            const reason = reasonToSkip(title, checks);
            if (reason !== undefined) {
              t.skip(reason);
              return;
            }
            const client = new Client(server);
            try {
              await check(client, client.newPlant());
            } catch (error) {
              if (title.includes(' SHOULD ')) t.todo('The rule is a SHOULD.');
              throw withoutTokens(error as Error, server.tokens);
            } finally {
              await client.cleanUp();
            }
          });
        }
      });
    }
  });
}

/** Removes the tokens from an error. A token may begin with another one. A short one is removed only after "Bearer". */
function withoutTokens(error: Error, { a, b, readOnly = a }: Tokens): Error {
  const secrets = [a, b, readOnly]
    .sort((one, other) => other.length - one.length)
    .map((token) => (token.length < 8 ? `Bearer ${token}` : token));
  const redact = (text: string): string => secrets.reduce((redacted, each) => redacted.replaceAll(each, '***'), text);
  return Object.assign(error, { message: redact(error.message), stack: redact(error.stack ?? '') });
}
