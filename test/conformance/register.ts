import { describe, it } from 'node:test';
import { authenticationChecks, isolationChecks, orderChecks, scopeChecks } from './checks/access.ts';
import { byteChecks } from './checks/bytes.ts';
import { errorChecks, methodChecks, openApiChecks, originChecks } from './checks/http.ts';
import { listChecks } from './checks/list.ts';
import { createChecks, createFailureChecks, deleteChecks, int64Checks, stringChecks } from './checks/plants.ts';
import { createClient } from './client.ts';
import type { Server, Tokens } from './client.ts';
import type { Checks } from './expect.ts';
import { concurrencyChecks } from './linearizable.ts';

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
  'HTTP on a socket': byteChecks,
  consistency: concurrencyChecks,
  'OpenAPI document': openApiChecks,
};

/**
 * Registers tests that check a server. If the rule of a check is a SHOULD, a failure is reported as a `todo`. `skipped`
 * contains the ids of checks that do not run.
 */
export function testServer(name: string, server: Server, skipped: readonly string[] = []): void {
  const cannotRun = new Map([
    [scopeChecks, server.tokens.readOnly === undefined && 'There is no read-only token.'],
    [byteChecks, server.deliver !== undefined && 'The server has no socket.'],
  ]);
  describe(name, () => {
    for (const [part, checks] of Object.entries(parts)) {
      describe(part, () => {
        for (const [title, check] of Object.entries(checks)) {
          const skip = skipped.includes(title.replace(/ .*/s, '')) || (cannotRun.get(checks) ?? false);
          it(title, { skip }, async (t) => {
            const client = createClient(server);
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

/** Removes the tokens from an error, long ones first. A token of up to 7 characters is removed only after "Bearer". */
function withoutTokens(error: Error, { a, b, readOnly = a }: Tokens): Error {
  const secrets = [a, b, readOnly]
    .sort((one, other) => other.length - one.length)
    .map((token) => (token.length < 8 ? `Bearer ${token}` : token));
  const redact = (text: string): string => secrets.reduce((redacted, each) => redacted.replaceAll(each, '***'), text);
  return Object.assign(error, { message: redact(error.message), stack: redact(error.stack ?? '') });
}
