/** The smallest int64, −2^63. */
export const minInt64: bigint = -(2n ** 63n);
/** The largest int64, 2^63 − 1. */
export const maxInt64: bigint = 2n ** 63n - 1n;

/** The longest int64 has 19 digits; more are refused before BigInt() would spend time on them. */
const maxDigits = 19;

/** Whether `value` is in the int64 range. */
export function isInt64(value: bigint): boolean {
  return value >= minInt64 && value <= maxInt64;
}

/**
 * The int64 that a decimal text (`-?digits`) names, or `undefined` where it names none.
 * Nothing else is taken: no `+`, space, point, exponent or hexadecimal.
 */
export function int64FromText(text: string): bigint | undefined {
  return /^-?\d+$/.test(text) ? int64FromJsonNumber(text) : undefined;
}

/**
 * The int64 that a JSON number literal (RFC 8259 §6) stands for, exactly: `1.0` and `1e3` are
 * integers, `1.5` and 2^63 are not (`undefined`). Takes time linear in the literal's length,
 * whatever its value.
 */
export function int64FromJsonNumber(literal: string): bigint | undefined {
  const parts = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(literal);
  if (parts === null) return undefined;
  const [, sign = '', whole = '', fraction = '', exponentText = '0'] = parts;

  // value = significant × 10^exponent, where `significant` neither begins nor ends with a 0
  const digits = whole + fraction;
  let start = 0;
  let end = digits.length;
  while (start < end && digits[start] === '0') start++;
  while (end > start && digits[end - 1] === '0') end--;
  const significant = digits.slice(start, end);
  if (significant === '') return 0n;

  const exponent = Number(exponentText) - fraction.length + (digits.length - end);
  if (exponent < 0 || significant.length + exponent > maxDigits) return undefined;
  const value = BigInt(sign + significant + '0'.repeat(exponent));
  return isInt64(value) ? value : undefined;
}
