import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { requireFolderOf } from '../../storage/sqlite/file.ts';
import { issueToken } from '../../tokens/issue.ts';

/** The texts that the server prints about the first token. */
export interface FirstToken {
  /** A message that contains the token itself or the path of the file with the token. */
  readonly text: string;
  /** A POSIX shell command that uses the token to list the plants. */
  readonly curl: string;
}

/**
 * Prepares the first token. If the server starts without a tokens file, it issues this token to the user `me`. `tokens`
 * is the path of the tokens file. Returns a function that issues the token, for the server at `url`. If standard output
 * is a terminal, the token is printed. Otherwise, the output might be saved in a log, so the token is written to a file
 * instead.
 *
 * @throws {Error} if the folder of the tokens file does not exist, or if the file for the first token already exists.
 *   An existing file is never overwritten.
 */
export function prepareFirstToken(tokens: string): (url: string) => FirstToken {
  requireFolderOf(tokens, 'tokens file');
  const issue = (): string => issueToken(tokens, { user: 'me' }).token;
  if (process.stdout.isTTY) {
    return (url) => {
      const token = issue();
      const text = `Created a token for the user 'me'. It is shown only once:\n\n  ${token}\n`;
      return { text, curl: curl(`'Authorization: Bearer ${token}'`, url) };
    };
  }
  const file = join(dirname(resolve(tokens)), 'first-token.txt');
  if (existsSync(file)) {
    const other = `or create ${tokens} with plant-store token create USER.`;
    throw new Error(`The first token would be written to ${file}, which exists. Move that file away, ${other}`);
  }
  return (url) => {
    // The file is created before the token is issued, so that no token is issued if the file cannot be created.
    writeFileSync(file, '', { flag: 'wx', mode: 0o600 });
    try {
      writeFileSync(file, `${issue()}\n`, { flush: true });
    } catch (error) {
      rmSync(file, { force: true });
      throw error;
    }
    const place = `It is in ${file}, which only its owner can read.\nMove the token to a safe place, and remove that file.`;
    const text = `Created a token for the user 'me'. ${place}\n`;
    return { text, curl: curl(`"Authorization: Bearer $(cat ${shellQuoted(file)})"`, url) };
  };
}

function curl(header: string, url: string): string {
  return `curl -H ${header} ${shellQuoted(`${url}/plants`)}`;
}

/** Quotes a string as one word for a POSIX shell. */
function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
