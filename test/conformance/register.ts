import { describe, it } from 'node:test';
import { accessChecks, scopeChecks } from './checks/access.ts';
import { byteChecks } from './checks/bytes.ts';
import { httpChecks } from './checks/http.ts';
import { listChecks } from './checks/list.ts';
import { plantChecks } from './checks/plants.ts';
import { createClient } from './client.ts';
import type { Server, Tokens } from './client.ts';
import type { Check, Checks } from './expect.ts';
import { concurrencyChecks } from './linearizable.ts';

const parts: Checks[] = [plantChecks, listChecks, accessChecks, scopeChecks, httpChecks, byteChecks, concurrencyChecks];

/**
 * Registers tests that check a server. If the rule of a check is a SHOULD, a failure is reported as a `todo`. `skipped`
 * contains the ids of checks that do not run.
 */
export function testServer(name: string, server: Server, skipped: readonly string[] = []): void {
  const reasonToSkip = (title: string): string | boolean => {
    if (title in scopeChecks && server.tokens.readOnly === undefined) return 'There is no read-only token.';
    if (title in byteChecks && server.deliver !== undefined) return 'The server has no socket.';
    return skipped.includes(title.replace(/ .*/s, ''));
  };
  describe(name, () => {
    for (const [title, check] of parts.flatMap(Object.entries<Check>)) {
      it(title, { skip: reasonToSkip(title) }, async (t) => {
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

/** Removes the tokens from an error, long ones first. A token of up to 7 characters is removed only after "Bearer". */
function withoutTokens(error: Error, { a, b, readOnly = a }: Tokens): Error {
  const secrets = [a, b, readOnly]
    .sort((one, other) => other.length - one.length)
    .map((token) => (token.length < 8 ? `Bearer ${token}` : token));
  const redact = (text: string): string => secrets.reduce((redacted, each) => redacted.replaceAll(each, '***'), text);
  return Object.assign(error, { message: redact(error.message), stack: redact(error.stack ?? '') });
}
