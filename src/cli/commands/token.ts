import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { scopes as allScopes } from '../../boundary/caller.ts';
import { errorTable } from '../../core/model/errors.ts';
import { isUser } from '../../core/model/user.ts';
import { issueToken, requireTokenFile, revokeToken } from '../../tokens/issue.ts';
import { hasTokenFile, readTokenFile } from '../../tokens/token-file.ts';
import type { TokenRecord } from '../../tokens/token-file.ts';
import { parseCommandLine, UsageError } from '../command.ts';
import { parseWord, readSetting, settings } from '../environment.ts';
import { printable } from '../output/text.ts';
import { refuseRoot } from '../refuse-root.ts';

export const help = `Usage: plant-store token create USER [--scope LIST] [--expires-in TIME]
       plant-store token list
       plant-store token revoke ID

Manages bearer tokens. create prints a new token for a user; the token is not
shown again. list shows all tokens, but not their values. revoke removes the
token with this id; ID can also be the token itself. A running server applies
changes within a second.

Options:
  --tokens FILE       the tokens file (PLANT_STORE_TOKENS; default tokens.json)
  --scope LIST        with create: the scopes of the token, plants:read or
                      plants:write, separated by commas (default: both)
  --expires-in TIME   with create: the time until the token expires, a number
                      followed by s, m, h, d or w, such as 30d (default: never)
  -h, --help          show this help
`;

const unitMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

export async function run([action, ...args]: string[]): Promise<number> {
  if (action === 'create') return create(args);
  if (action === 'list') return list(args);
  if (action === 'revoke') return revoke(args);
  throw new UsageError('token must be followed by create, list or revoke. See plant-store token --help.');
}

async function create(args: string[]): Promise<number> {
  const options = { scope: { type: 'string' }, 'expires-in': { type: 'string' } } as const;
  const { values, positionals } = parseCommandLine(args, { tokens: settings.tokens, ...options }, 1);
  const [user] = positionals;
  if (!user) throw new UsageError('token create requires a USER.');
  if (!isUser(user)) throw new UsageError(`USER is invalid: ${errorTable.invalid_user.message}`);
  const scopes = values.scope?.split(',').map((text) => parseWord({ text, source: '--scope' }, allScopes));
  const expiresIn = values['expires-in'];
  const expiresAt = expiresIn === undefined ? undefined : parseExpiry(expiresIn);
  const path = openPath(values.tokens);
  const place = `${hasTokenFile(path) ? '' : 'the new file '}${path}`;
  const { record } = await issueToken(path, { user, scopes, expiresAt }, (token) => print(`${token}\n`));
  process.stderr.write(`Created ${record.id} for ${printable(user)} in ${place}. The token is shown only once.\n`);
  return 0;
}

/** Rejects if writing to standard output fails. */
const print = promisify((text: string, done: (error?: Error | null) => void) => process.stdout.write(text, done));

function list(args: string[]): number {
  const { values } = parseCommandLine(args, { tokens: settings.tokens });
  const path = openPath(values.tokens);
  requireTokenFile(path);
  const rows = [['ID', 'USER', 'SCOPES', 'CREATED', 'EXPIRES'], ...readTokenFile(path).map(rowOf)];
  const widthOf = (column: number): number => rows.reduce((width, row) => Math.max(width, row[column]?.length ?? 0), 0);
  const widths = Array.from({ length: 5 }, (_, column) => widthOf(column));
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  process.stdout.write(`${lines.map((line) => line.trimEnd()).join('\n')}\n`);
  return 0;
}

async function revoke(args: string[]): Promise<number> {
  const { values, positionals } = parseCommandLine(args, { tokens: settings.tokens }, 1);
  const [given] = positionals;
  if (given === undefined) throw new UsageError('token revoke requires the ID of a token. See plant-store token list.');
  const path = openPath(values.tokens);
  const id = await revokeToken(path, given);
  // The message does not contain the argument, which may be a token.
  if (id === undefined) throw new Error(`There is no such token in ${path}. See plant-store token list.`);
  process.stderr.write(`Revoked ${printable(id)}.\n`);
  return 0;
}

/** Returns the path of the tokens file. As root, this process first becomes the account that can replace the file. */
function openPath(value: string | undefined): string {
  const path = resolve(readSetting('tokens', value).text);
  refuseRoot(path);
  return path;
}

function rowOf({ id, user, scopes, createdAt, expiresAt }: TokenRecord): string[] {
  const isExpired = expiresAt !== undefined && Date.parse(expiresAt) <= Date.now();
  const expiry = `${expiresAt ?? 'never'}${isExpired ? ' (expired)' : ''}`;
  return [printable(id), printable(user), (scopes ?? allScopes).join(','), createdAt, expiry];
}

function parseExpiry(text: string): string {
  const [, count = '', unit = ''] = /^([1-9]\d*)([smhdw])$/.exec(text) ?? [];
  const time = new Date(Date.now() + Number(count) * (unitMs[unit] ?? NaN));
  if (Number.isNaN(time.getTime())) {
    throw new UsageError('--expires-in must be a number of at least 1 and s, m, h, d or w, as in 30d.');
  }
  return time.toISOString();
}
