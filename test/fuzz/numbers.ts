import fc from 'fast-check';
import { maxInt64, minInt64 } from '../../src/core/model/int64.ts';
import { words } from './words.ts';

const limits = [0n, -1n, 2n ** 31n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, minInt64, maxInt64];

/** Generates mostly one of a few small ids, so that requests conflict. Other ids are limits of int64 or of a double. */
export const anyId: fc.Arbitrary<bigint> = fc.oneof(
  { weight: 8, arbitrary: fc.bigInt({ min: 1n, max: 4n }) },
  { weight: 3, arbitrary: fc.constantFrom(...limits) },
  { weight: 1, arbitrary: fc.bigInt({ min: minInt64, max: maxInt64 }) },
);

/** Literals whose value is not obvious or is not an int64. Some literals are not valid JSON. */
const oddLiterals = words(`
  1e18 1E18 1.0e+18 9223372036854775807.0 922337203685477580.7e1 92233720368547758070e-1 9223372036854775808
  9223372036854775807.5 -9223372036854775808.0 -9223372036854775809 9007199254740993.0 9007199254740992.5 1e19 1e400
  1e-400 0e999999999999999999999 -0 -0.0 0.1e1 1e999999999999999999999 1.00000000000000000000000000001 1.5 10e-1 15e-1
  01 +1 1. .5 0x10 1n 1_000 NaN Infinity --1 1e ٣ "1" null true [1] {}`);

/** An id that is written as a JSON number with a fraction and an exponent. */
const spelled = fc.tuple(anyId, fc.nat(25), fc.nat(12)).map(([id, shift, zeros]) => {
  const digits = String(id)
    .replace('-', '')
    .padStart(shift + 1, '0');
  const cut = digits.length - shift;
  const whole = digits.slice(0, cut).replace(/^0+(?=\d)/, '');
  return `${id < 0n ? '-' : ''}${whole}.${digits.slice(cut)}${'0'.repeat(zeros + 1)}e${shift}`;
});

const long = fc
  .tuple(fc.constantFrom('1', '0', '9', '0.0', '1e', '1e-', '-'), fc.constantFrom('0', '1', '9'), fc.nat(400))
  .map(([start, digit, count]) => start + digit.repeat(count + 1));

/** The text of an id in a body, in various notations. It is usually valid. */
export const idLiteral: fc.Arbitrary<string> = fc.oneof(
  { weight: 8, arbitrary: anyId.map(String) },
  { weight: 3, arbitrary: spelled },
  { weight: 2, arbitrary: fc.constantFrom('', ...oddLiterals) },
  { weight: 1, arbitrary: long },
);
