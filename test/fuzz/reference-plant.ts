import { maxInt64, minInt64 } from '../../src/model/int64.ts';
import type { StoredPlant } from '../../src/index.ts';

/** What a body comes to: a plant, or the integer of the Error that refuses it. */
export type BodyVerdict = StoredPlant | 40001 | 40002;

const maxDepth = 256;

/** Reads a NewPlant the slow and simple way: JSON.parse with access to the source of each number. */
export function readPlant(bytes: Uint8Array): BodyVerdict {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return 40001;
  }
  const value = parseWithIdSource(text);
  if (value === undefined) return 40001;
  const { root, idSource } = value;
  if (typeof root !== 'object' || root === null || Array.isArray(root)) return 40002;
  const { name, tag } = root as Record<string, unknown>;
  const id = idSource === undefined ? undefined : int64OfSource(idSource);
  if (id === undefined || !isText(name)) return 40002;
  if (tag === undefined) return { id, name };
  return isText(tag) ? { id, name, tag } : 40002;
}

/** A JSON value and how the number under its top-level `id` is written; `undefined` where it is no JSON. */
export function parseWithIdSource(text: string): { root: unknown; idSource: string | undefined } | undefined {
  try {
    JSON.parse(text);
  } catch {
    return undefined;
  }
  // Before the reviver, which recurses.
  if (depthOf(text) > maxDepth) return undefined;
  const sources = new WeakMap<object, string>();
  const reviver = function (this: object, key: string, value: unknown, context?: { source?: string }): unknown {
    if (key === 'id' && !Array.isArray(this)) {
      sources.delete(this);
      if (typeof value === 'number' && context?.source !== undefined) sources.set(this, context.source);
    }
    return value;
  };
  const root: unknown = JSON.parse(text, reviver);
  return { root, idSource: typeof root === 'object' && root !== null ? sources.get(root) : undefined };
}

/** The int64 that a JSON number is, by exact arithmetic on the whole of it. */
export function int64OfSource(source: string): bigint | undefined {
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

/** How deep the brackets of a JSON text nest. */
function depthOf(text: string): number {
  const brackets = text.replace(/"(?:[^"\\]|\\.)*"/g, '').replace(/[^[\]{}]/g, '');
  let depth = 0;
  let deepest = 0;
  for (const bracket of brackets) {
    depth += bracket === '[' || bracket === '{' ? 1 : -1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed() && !value.includes('\0');
}
