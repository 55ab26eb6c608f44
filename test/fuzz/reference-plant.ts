import { maxInt64, minInt64 } from '../../src/core/model/int64.ts';
import type { Plant } from '../../src/index.ts';

/** The plant in a valid body, or the error's integer for an invalid body. */
export type BodyVerdict = Plant | 40001 | 40002;

/** Parses a NewPlant in a slow but simple way. Uses JSON.parse with access to the source text of each number. */
export function parsePlant(bytes: Uint8Array): BodyVerdict {
  const ids = new Map<unknown, string>();
  const reviver = function (this: unknown, key: string, value: unknown, context?: { source?: string }): unknown {
    if (key === 'id' && typeof value === 'number') ids.set(this, context?.source ?? '');
    return value;
  };
  let root: unknown;
  try {
    root = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes), reviver);
  } catch {
    return 40001;
  }
  if (typeof root !== 'object' || root === null || Array.isArray(root)) return 40002;
  const { name, tag } = root as Record<string, unknown>;
  const idSource = ids.get(root);
  const id = idSource === undefined ? undefined : int64OfSource(idSource);
  if (id === undefined || !isText(name)) return 40002;
  if (tag === undefined) return { id, name };
  return isText(tag) ? { id, name, tag } : 40002;
}

/** Computes the int64 value of a JSON number exactly. Returns `undefined` if the number is not an int64. */
function int64OfSource(source: string): bigint | undefined {
  const [mantissa = '', exponentText = '0'] = source.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = BigInt(whole.replace('-', '') + fraction);
  const exponent = BigInt(exponentText) - BigInt(fraction.length);
  if (digits === 0n) return 0n;
  if (exponent > 40n || exponent < -BigInt(mantissa.length)) return undefined;
  const scale = 10n ** (exponent < 0n ? -exponent : exponent);
  if (exponent < 0n && digits % scale !== 0n) return undefined;
  const size = exponent < 0n ? digits / scale : digits * scale;
  const value = source.startsWith('-') ? -size : size;
  return value >= minInt64 && value <= maxInt64 ? value : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed() && !value.includes('\0');
}
