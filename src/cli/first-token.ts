import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TokenGrants } from '../tokens/grants.ts';
import { finishIssue, issueToken } from '../tokens/issue.ts';
import { UsageError } from './errors.ts';
import { shellQuoted } from './process.ts';

function firstTokenFile(tokens: string): string {
  return join(dirname(tokens), 'first-token.txt');
}

/**
 * Creates a token for the user `me`, and writes it to a new file. The token is not printed, because the output of a
 * server is often saved in a log. Completes a first start that was killed.
 */
export async function createFirstToken(tokens: string): Promise<void> {
  const file = firstTokenFile(tokens);
  if (finishIssue(tokens, tryRead(file).trim())) return;
  // A first start that was killed can leave an empty file.
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats?.isFile() === true && stats.size === 0) rmSync(file);
  await issueToken(tokens, { user: 'me' }, (token) => {
    try {
      writeFileSync(file, `${token}\n`, { flag: 'wx', mode: 0o600, flush: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') {
        throw new UsageError(`The first token would be written to ${file}, which exists: move it away.`, {
          cause: error,
        });
      }
      rmSync(file, { force: true });
      throw error;
    }
  });
}

/** Returns '' if the file with the first token is missing, or if its token is not valid. */
export function describeFirstToken(tokens: string, grants: TokenGrants, url: string): string {
  const file = firstTokenFile(tokens);
  try {
    if (grants.find(tryRead(file).trim()) === null) return '';
  } catch {
    // The tokens file has changed since the start and cannot be read. The log says so.
    return '';
  }
  return `
A token for the user 'me' is in ${file}.
To list your plants, run:

  curl -H "Authorization: Bearer $(cat ${shellQuoted(file)})" ${shellQuoted(`${url}/plants`)}

Then move the token to a safe place, and remove that file.

`;
}

function tryRead(file: string): string {
  try {
    // Opening a pipe would wait for a writer.
    return statSync(file).isFile() ? readFileSync(file, 'utf8') : '';
  } catch {
    return '';
  }
}
