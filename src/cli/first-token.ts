import { closeSync, existsSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { requireAccess } from '../files/access.ts';
import { requireFolderOf } from '../files/folder.ts';
import { issueToken } from '../tokens/issue.ts';
import { shellQuoted } from './output/shell-quoted.ts';

/**
 * Returns the path of the new file for the first token of a server. The token is not printed, because the output of a
 * server is often saved in a log.
 */
export function planFirstToken(tokens: string): string {
  requireFolderOf(tokens, 'tokens file');
  requireAccess([dirname(tokens)], 'write');
  const file = join(dirname(tokens), 'first-token.txt');
  if (existsSync(file)) throw new Error(`The first token would be written to ${file}, which exists: move it away.`);
  return file;
}

/** Creates a token for the user `me`, and writes it to a new file. */
export async function createFirstToken(tokens: string, file: string): Promise<void> {
  await issueToken(tokens, { user: 'me' }, (token) => {
    const descriptor = openSync(file, 'wx', 0o600);
    try {
      writeFileSync(descriptor, `${token}\n`, { flush: true });
    } catch (error) {
      rmSync(file);
      throw error;
    } finally {
      closeSync(descriptor);
    }
  });
}

/** Returns a message with a command that calls the server at `url`. */
export function describeFirstToken(file: string, url: string): string {
  return `
Created a token for the user 'me' in ${file}, which only its owner can read.
Move the token to a safe place, and remove that file. To list your plants, run:

  curl -H "Authorization: Bearer $(cat ${shellQuoted(file)})" ${shellQuoted(`${url}/plants`)}
`;
}
