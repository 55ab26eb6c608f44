import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { createTokenFileAuthenticator } from '../../src/tokens.ts';
import { issueToken } from '../../src/tokens/issue.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

interface Setting {
  readonly path: string;
  readonly token: string;
  readonly id: string;
  readonly authenticate: ReturnType<typeof createTokenFileAuthenticator>;
  /** Returns the user whom a token identifies. */
  readonly userOf: (token: string) => string | undefined;
  /** The warnings so far. */
  readonly problems: string[];
  /** Advances the stopped clocks and timers of this process. */
  readonly advance: (byMs: number) => void;
}

/** Stops the clock. Creates a tokens file with one token for ada, and an authenticator that reads the file. */
export async function authenticateAda(t: TestContext): Promise<Setting> {
  let nowMs = Math.ceil(performance.now());
  t.mock.method(performance, 'now', () => nowMs);
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: Date.now() });
  const advance = (byMs: number): void => {
    nowMs += byMs;
    t.mock.timers.tick(byMs);
  };
  const path = join(await temporaryFolder(t), 'tokens.json');
  const { token, record } = issueToken(path, { user: 'ada' });
  const problems: string[] = [];
  const authenticate = createTokenFileAuthenticator(path, { onWarning: (message) => problems.push(message) });
  const userOf = (text: string): string | undefined => authenticate(text)?.user;
  return { path, token, id: record.id, authenticate, userOf, problems, advance };
}
