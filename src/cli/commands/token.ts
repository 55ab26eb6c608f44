import { scopes as allScopes } from '../../boundary/caller.ts';
import { errorTable } from '../../core/model/errors.ts';
import { isUser } from '../../core/model/plant.ts';
import { hasFile } from '../../files/file.ts';
import { issueToken, revokeToken } from '../../tokens/issue.ts';
import { readTokenFile } from '../../tokens/token-file.ts';
import type { TokenRecord } from '../../tokens/token-file.ts';
import { parseWord } from '../command-line.ts';
import type { Settings } from '../command-line.ts';
import { UsageError } from '../errors.ts';
import { print, printable, requireOutput, tell } from '../process.ts';
import { requireSafePath } from '../refuse-root.ts';

const unitMs: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

export async function create(settings: Settings<'token create'>, user: string): Promise<number> {
  if (!isUser(user)) throw new UsageError(`USER is invalid: ${errorTable.invalid_user.message}`);
  const { value: list, source } = settings.scope;
  const scopes = list?.split(',').map((value) => parseWord({ value, source }, allScopes));
  const expiresAt = parseExpiry(settings['expires-in'].value);
  const path = requireSafePath(settings.tokens.value);
  requireOutput();
  const place = `${hasFile(path) ? '' : 'the new file '}${path}`;
  const { record } = await issueToken(path, { user, scopes, expiresAt }, (token) => print(`${token}\n`));
  tell(`Created ${record.id} for ${printable(user)} in ${place}. The token is shown only once.`);
  return 0;
}

export async function list({ tokens }: Settings<'token list'>): Promise<number> {
  const path = requireSafePath(tokens.value);
  const rows = [['ID', 'USER', 'SCOPES', 'CREATED', 'EXPIRES'], ...readTokenFile(path).map(rowOf)];
  const widthOf = (column: number): number => rows.reduce((width, row) => Math.max(width, row[column]?.length ?? 0), 0);
  const widths = Array.from({ length: 5 }, (_, column) => widthOf(column));
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  await print(`${lines.map((line) => line.trimEnd()).join('\n')}\n`);
  return 0;
}

export async function revoke({ tokens }: Settings<'token revoke'>, given: string): Promise<number> {
  const path = requireSafePath(tokens.value);
  const id = await revokeToken(path, given);
  // The message does not contain the argument, which may be a token.
  if (id === undefined) throw new Error(`There is no such token in ${path}. See plant-store token list.`);
  tell(`Revoked ${printable(id)}.`);
  return 0;
}

function rowOf({ id, user, scopes, createdAt, expiresAt }: TokenRecord): string[] {
  const isExpired = expiresAt !== undefined && Date.parse(expiresAt) <= Date.now();
  const expiry = `${expiresAt ?? 'never'}${isExpired ? ' (expired)' : ''}`;
  return [printable(id), printable(user), (scopes ?? allScopes).join(','), createdAt, expiry];
}

function parseExpiry(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const [, count = '', unit = ''] = /^([1-9]\d*)([smhdw])$/.exec(text) ?? [];
  const time = new Date(Date.now() + Number(count) * (unitMs[unit] ?? NaN));
  if (Number.isNaN(time.getTime())) {
    throw new UsageError('--expires-in must be a number of at least 1 and s, m, h, d or w, as in 30d.');
  }
  return time.toISOString();
}
