export const minInt64: bigint = -(2n ** 63n);
export const maxInt64: bigint = 2n ** 63n - 1n;

/** The largest int64 has this many digits. Longer numbers are not passed to BigInt(), which parses them slowly. */
const maxDigits = 19;

export function isInt64(value: bigint): boolean {
  return value >= minInt64 && value <= maxInt64;
}

export function int64FromText(text: string): bigint | undefined {
  return /^-?\d+$/.test(text) ? int64FromJsonNumber(text) : undefined;
}

/** Converts a JSON number in any notation, such as `1.0` and `1e3`, without rounding and in linear time. */
export function int64FromJsonNumber(literal: string): bigint | undefined {
  const parts = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(literal);
  if (parts === null) return undefined;
  const [, sign = '', whole = '', fraction = '', exponentText = '0'] = parts;

  // value = significant × 10^exponent. `significant` has no leading or trailing zeros.
  const digits = whole + fraction;
  let start = 0;
  let end = digits.length;
  while (digits[start] === '0') start++;
  while (digits[end - 1] === '0') end--;
  const significant = digits.slice(start, end);
  if (significant === '') return 0n;

  const exponent = Number(exponentText) - fraction.length + (digits.length - end);
  if (exponent < 0 || significant.length + exponent > maxDigits) return undefined;
  const value = BigInt(sign + significant + '0'.repeat(exponent));
  return isInt64(value) ? value : undefined;
}
