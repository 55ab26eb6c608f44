import { closeSync, existsSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { requireAccess } from '../files/access.ts';
import { requireFolderOf } from '../files/folder.ts';
import { issueToken } from '../tokens/issue.ts';
import { shellQuoted } from './output/shell-quoted.ts';

/**
 * Prepares the first token, which belongs to the user `me`. The returned function issues the token, and returns a
 * message with a command that calls the server at `url`. The token is written to a new file, because the output of a
 * server is often saved in a log.
 *
 * @throws {Error} if the folder of the tokens file does not exist, or if the file for the first token already exists.
 */
export function prepareFirstToken(tokens: string): (url: string) => Promise<string> {
  requireFolderOf(tokens, 'tokens file');
  const folder = dirname(resolve(tokens));
  requireAccess([folder], 'write');
  const path = join(folder, 'first-token.txt');
  if (existsSync(path)) throw new Error(`The first token would be written to ${path}, which exists: move it away.`);
  return async (url) => {
    await issueToken(tokens, { user: 'me' }, ({ token }) => {
      writeFirstToken(path, token);
    });
    return `
Created a token for the user 'me' in ${path}, which only its owner can read.
Move the token to a safe place, and remove that file. To list your plants, run:

  curl -H "Authorization: Bearer $(cat ${shellQuoted(path)})" ${shellQuoted(`${url}/plants`)}
`;
  };
}

function writeFirstToken(path: string, token: string): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    writeSync(file, `${token}\n`);
    fsyncSync(file);
  } catch (error) {
    rmSync(path);
    throw error;
  } finally {
    closeSync(file);
  }
}
