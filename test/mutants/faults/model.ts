import { faultsIn } from '../fault.ts';
import type { Fault } from '../fault.ts';

/** `src/model`: plants, ids, users, errors and options. */
export const modelFaults: readonly Fault[] = [
  ...faultsIn(
    'src/model/error-text.ts',
    ['test/model/error-text.test.ts'],
    [
      {
        name: 'error text: an error without a stack throws',
        find: `typeof error.stack === 'string' ? error.stack : `,
        replace: 'error.stack ?? ',
      },
      { name: 'error text: causes are omitted', find: `texts.join('\\nCaused by ')`, replace: `texts[0] ?? ''` },
    ],
  ),
  ...faultsIn(
    'src/model/errors.ts',
    ['test/model/errors.test.ts'],
    [
      { name: 'error table: a code has another integer', find: 'error: 40003', replace: 'error: 40010' },
      {
        name: 'error table: a code has another status',
        find: '{ status: 403, error: 40300',
        replace: '{ status: 401, error: 40300',
      },
    ],
  ),
  ...faultsIn(
    'src/model/exact-json.ts',
    ['test/model/exact-json.test.ts'],
    [
      {
        name: 'exact JSON: an id beyond 2^53 is rounded',
        find: 'Number.isSafeInteger(id)',
        replace: 'Number.isInteger(id)',
      },
      {
        name: 'exact JSON: a fraction too small for a double is dropped',
        find: ' && !fractionOrExponent.test(text)',
        replace: '',
      },
      {
        name: 'exact JSON: the first of two ids is used',
        find: 'literal = number.exec(text)',
        replace: 'literal ??= number.exec(text)',
      },
      {
        name: 'exact JSON: an id under an escaped key is rounded',
        find: `JSON.parse(lastString) !== 'id'`,
        replace: `lastString !== '"id"'`,
      },
      { name: 'exact JSON: a nested number is used as the id', find: 'if (depth !== 1 || ', replace: 'if (' },
      { name: 'exact JSON: an escaped quote ends a string', find: `text[at] === '\\\\' ? 2 : 1`, replace: '1' },
      {
        name: 'exact JSON: a body may nest one level too deep',
        find: '++depth > maxDepth',
        replace: '++depth > maxDepth + 1',
      },
      { name: 'exact JSON: the nesting of arrays is not limited', find: `!text.includes('[') && `, replace: '' },
    ],
  ),
  ...faultsIn(
    'src/model/guard-hook.ts',
    ['test/http/on-error.test.ts'],
    [
      {
        name: 'hooks: a rejected promise ends the process',
        find: 'if (result instanceof Promise) result.catch(onFailure);',
        replace: '',
      },
      { name: 'hooks: a report is lost if its hook throws', find: 'fallback(...report);', replace: '' },
    ],
  ),
  ...faultsIn(
    'src/model/int64.ts',
    ['test/model/int64.test.ts'],
    [
      { name: 'int64: the maximum is excluded', find: 'value <= maxInt64', replace: 'value < maxInt64' },
      { name: 'int64: the minimum is excluded', find: 'value >= minInt64', replace: 'value > minInt64' },
      { name: 'int64: 2^63 is accepted', find: '2n ** 63n - 1n', replace: '2n ** 63n' },
      { name: 'int64: numbers of 19 digits are rejected', find: 'maxDigits = 19', replace: 'maxDigits = 18' },
      {
        name: 'int64: leading zeros count as digits',
        find: `while (start < end && digits[start] === '0') start++;`,
        replace: '',
      },
      { name: 'int64: the decimal point is ignored', find: ' - fraction.length', replace: '' },
      {
        name: 'int64: the sign of an exponent is ignored',
        find: 'Number(exponentText)',
        replace: 'Math.abs(Number(exponentText))',
      },
      {
        name: 'int64: the sign of a number is ignored',
        find: 'BigInt(sign + significant',
        replace: 'BigInt(significant',
      },
      {
        name: 'int64: an id in a path may have an exponent',
        find: String.raw`return /^-?\d+$/.test(text) ? int64FromJsonNumber(text) : undefined;`,
        replace: 'return int64FromJsonNumber(text);',
      },
    ],
  ),
  ...faultsIn(
    'src/model/options.ts',
    ['test/model/options.test.ts'],
    [
      {
        name: 'options: the minimum of an integer is excluded',
        find: 'value >= min',
        replace: 'value > min',
        tests: ['test/store/plant-page-json.test.ts'],
      },
      {
        name: 'options: unknown names are accepted',
        find: 'if (Object.hasOwn(known, name)) continue;',
        replace: 'continue;',
      },
      {
        name: 'options: names inherited from Object.prototype are accepted',
        find: 'Object.hasOwn(known, name)',
        replace: 'name in known',
      },
    ],
  ),
  ...faultsIn(
    'src/model/storable-string.ts',
    ['test/store/plant-store.test.ts'],
    [
      { name: 'storable string: unpaired surrogates are accepted', find: 'text.isWellFormed() && ', replace: '' },
      { name: 'storable string: U+0000 is accepted', find: ` && !text.includes('\\0')`, replace: '' },
    ],
  ),
  ...faultsIn(
    'src/model/plant.ts',
    ['test/store/plant-store.test.ts'],
    [
      {
        name: 'plant: a null tag is treated as absent',
        find: 'if (tag !== undefined)',
        replace: 'if (tag !== undefined && tag !== null)',
      },
      {
        name: 'plant: a name that is a number is converted to a string',
        find: `throw new PlantStoreError('invalid_plant', \`\${field} must be a string.\`)`,
        replace: 'return String(input)',
      },
      {
        name: 'plant: an unsafe integer is accepted as an id',
        find: '&& Number.isSafeInteger(input)) return',
        replace: '&& Number.isInteger(input)) return',
      },
      { name: 'plant: the maximum limit is rejected', find: '2_147_483_647', replace: '2_147_483_646' },
      {
        name: 'plant: the JSON of a plant omits its tag',
        find: 'JSON.stringify({ name, tag })',
        replace: 'JSON.stringify({ name })',
        tests: ['test/http/conformance.test.ts'],
      },
    ],
  ),
  ...faultsIn(
    'src/model/user.ts',
    ['test/model/user.test.ts'],
    [
      { name: 'user: an empty user is accepted', find: `value !== '' && `, replace: '' },
      {
        name: 'user: 256 bytes are accepted',
        find: 'Buffer.byteLength(text) <= maxUserBytes',
        replace: 'Buffer.byteLength(text) <= maxUserBytes + 1',
      },
      { name: 'user: the length is counted in UTF-16 units', find: 'Buffer.byteLength(text)', replace: 'text.length' },
    ],
  ),
  ...faultsIn(
    'src/model/diagnostics.ts',
    ['test/store/publish-writes.test.ts'],
    [
      {
        name: 'diagnostics: every error is reported as storage_unavailable',
        find: `error instanceof PlantStoreError ? error.code : 'storage_unavailable'`,
        replace: `'storage_unavailable'`,
      },
      {
        name: 'diagnostics: a failed write is not published',
        find: `      publish(error instanceof PlantStoreError ? error.code : 'storage_unavailable');`,
        replace: '      void error;',
      },
    ],
  ),
];
