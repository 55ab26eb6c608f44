import { closeSync, existsSync, fsyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { issueToken, requireTokenFolder } from '../tokens/issue.ts';

/**
 * Where the server writes the first token, which it issues if it starts without a tokens file. The token is printed on
 * the terminal. If standard output is not a terminal, the output may be saved in a log, so the token is written to a
 * file instead.
 */
export type FirstTokenTarget = { readonly kind: 'terminal' } | { readonly kind: 'file'; readonly file: string };

/**
 * Decides whether the first token is printed or written to a file. `tokens` is the path of the tokens file.
 *
 * @throws {Error} if the folder of the tokens file does not exist, or if the file for the first token already exists.
 *   An existing file is never overwritten.
 */
export function firstTokenTarget(tokens: string, isTerminal: boolean): FirstTokenTarget {
  requireTokenFolder(tokens);
  if (isTerminal) return { kind: 'terminal' };
  const file = join(dirname(resolve(tokens)), 'first-token.txt');
  if (existsSync(file)) throw alreadyExists(file, tokens);
  return { kind: 'file', file };
}

/** The texts about the first token that the server prints. */
export interface FirstToken {
  /** A message that contains the token itself or the path of the file with the token. */
  readonly text: string;
  /** A POSIX shell command that calls the service with the token. */
  readonly curl: string;
}

/**
 * Issues the first token, for the user `me`. If the target is a file, the token is written to that file. `url` is the
 * URL of the service.
 */
export function issueFirstToken(tokens: string, target: FirstTokenTarget, url: string): FirstToken {
  const plants = shellQuoted(`${url}/plants`);
  if (target.kind === 'terminal') {
    const { token } = issueToken(tokens, { user: 'me' });
    return {
      text: `Created a token for the user 'me'. It is shown only once:\n\n  ${token}\n`,
      curl: `curl -H 'Authorization: Bearer ${token}' ${plants}`,
    };
  }
  const { file } = target;
  issueIntoFile(tokens, file);
  return {
    text: `Created a token for the user 'me'. It is in ${file}, which only its owner can read.
Move the token to a safe place, and remove that file.
`,
    curl: `curl -H "Authorization: Bearer $(cat ${shellQuoted(file)})" ${plants}`,
  };
}

/**
 * Issues the first token and writes it to a file. Creates the file before issuing the token: if the file cannot be
 * created, no token is issued.
 */
function issueIntoFile(tokens: string, file: string): void {
  const descriptor = createFile(file, tokens);
  try {
    const { token } = issueToken(tokens, { user: 'me' });
    writeSync(descriptor, `${token}\n`);
    fsyncSync(descriptor);
  } catch (error) {
    rmSync(file, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

function createFile(file: string, tokens: string): number {
  try {
    return openSync(file, 'wx', 0o600);
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'EEXIST' ? alreadyExists(file, tokens) : error;
  }
}

function alreadyExists(file: string, tokens: string): Error {
  const other = `or create ${tokens} with plant-store token create USER.`;
  return new Error(`The first token would be written to ${file}, which exists. Move that file away, ${other}`);
}

/** Quotes a string as one word for a POSIX shell. */
function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
