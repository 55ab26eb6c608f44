import { faultsIn } from '../fault.ts';
import type { Fault } from '../fault.ts';

const plantStore = 'test/store/plant-store.test.ts';
const pageCache = 'test/store/page-cache.test.ts';
const plantPageJson = 'test/store/plant-page-json.test.ts';

/** What a plant is, what an id is, and what the store makes sure of before it asks the storage. */
export const coreFaults: readonly Fault[] = [
  ...faultsIn(
    'src/model/int64.ts',
    ['test/model/int64.test.ts'],
    [
      { name: 'int64 ends one too early', find: 'value <= maxInt64', replace: 'value < maxInt64' },
      { name: 'int64 begins one too late', find: 'value >= minInt64', replace: 'value > minInt64' },
      { name: 'int64 ends one too late', find: '2n ** 63n - 1n', replace: '2n ** 63n' },
      { name: 'an int64 has 18 digits at the most', find: 'maxDigits = 19', replace: 'maxDigits = 18' },
      {
        name: 'leading zeros count as digits',
        find: `while (start < end && digits[start] === '0') start++;`,
        replace: '',
      },
      { name: 'a decimal point is ignored', find: ' - fraction.length', replace: '' },
      { name: 'an exponent loses its sign', find: 'Number(exponentText)', replace: 'Math.abs(Number(exponentText))' },
      { name: 'an id loses its sign', find: 'BigInt(sign + significant', replace: 'BigInt(significant' },
      {
        name: 'an id in a path may have an exponent',
        find: String.raw`return /^-?\d+$/.test(text) ? int64FromJsonNumber(text) : undefined;`,
        replace: 'return int64FromJsonNumber(text);',
      },
    ],
  ),
  ...faultsIn(
    'src/model/exact-json.ts',
    ['test/model/exact-json.test.ts'],
    [
      { name: 'an id beyond 2^53 is rounded', find: 'Number.isSafeInteger(id)', replace: 'Number.isInteger(id)' },
      { name: 'a fraction too small for a double is dropped', find: ' && !fractionOrExponent.test(text)', replace: '' },
      {
        name: 'the first of two ids counts',
        find: 'literal = number.exec(text)',
        replace: 'literal ??= number.exec(text)',
      },
      {
        name: 'an id whose name has an escape is rounded',
        find: `JSON.parse(lastString) !== 'id'`,
        replace: `lastString !== '"id"'`,
      },
      { name: 'a number inside the id is taken for it', find: 'if (depth !== 1 || ', replace: 'if (' },
      { name: 'a quote in a string ends it', find: `text[at] === '\\\\' ? 2 : 1`, replace: '1' },
      { name: 'a body may nest one level too deep', find: '++depth > maxDepth', replace: '++depth > maxDepth + 1' },
      { name: 'arrays may nest without bound', find: `!text.includes('[') && `, replace: '' },
    ],
  ),
  ...faultsIn(
    'src/model/plant.ts',
    [plantStore],
    [
      { name: 'unpaired surrogates are taken', find: 'text.isWellFormed() && ', replace: '' },
      { name: 'U+0000 is taken', find: ` && !text.includes('\\0')`, replace: '' },
      {
        name: 'a tag of null is none',
        find: 'if (tag !== undefined)',
        replace: 'if (tag !== undefined && tag !== null)',
      },
      {
        name: 'a number is taken for a name',
        find: `throw new PlantStoreError('invalid_plant', \`\${field} must be a string.\`)`,
        replace: 'return String(input)',
      },
      {
        name: 'a number beyond 2^53 is taken for an id',
        find: '&& Number.isSafeInteger(input)) return',
        replace: '&& Number.isInteger(input)) return',
      },
      { name: 'the largest limit is refused', find: '2_147_483_647', replace: '2_147_483_646' },
      {
        name: 'answers have no tag',
        find: 'JSON.stringify({ name, tag })',
        replace: 'JSON.stringify({ name })',
        tests: ['test/http/plants.test.ts'],
      },
    ],
  ),
  ...faultsIn(
    'src/model/errors.ts',
    ['test/model/errors.test.ts'],
    [
      { name: 'a code has a new number', find: 'error: 40003', replace: 'error: 40010' },
      {
        name: 'a code has the status of another',
        find: '{ status: 403, error: 40300',
        replace: '{ status: 401, error: 40300',
      },
    ],
  ),
  ...faultsIn(
    'src/model/options.ts',
    [plantPageJson],
    [{ name: 'the least value of an option is refused', find: 'value >= min', replace: 'value > min' }],
  ),
  ...faultsIn(
    'src/store/plant-store.ts',
    [plantStore],
    [
      {
        name: 'a create of a taken id looks done',
        find: `if (!isNew) throw new PlantStoreError('id_taken');`,
        replace: '',
      },
      { name: 'a limit over the largest is taken', find: 'limit > maxLimit', replace: 'limit > maxLimit + 1' },
      { name: 'a limit of 0 is refused', find: 'limit < 0 ||', replace: 'limit <= 0 ||' },
      {
        name: 'a list ends with its first page',
        find: 'page.length < range.limit &&',
        replace: 'page.length <= range.limit &&',
      },
      {
        name: 'a page is as long as the limit',
        find: 'limit: Math.min(left, maxPageLength)',
        replace: 'limit: Math.min(left, maxLimit)',
      },
      { name: 'a long list keeps all others waiting', find: 'await pageTurn(user);', replace: '' },
      {
        name: 'the storage is closed before the writes are done',
        find: 'this.#writes.close().then(() => this.#storage.close())',
        replace: 'this.#storage.close()',
      },
      {
        name: 'too few outcomes are taken for all',
        find: 'outcomes.length === writes.length',
        replace: 'outcomes.length <= writes.length',
      },
      {
        name: 'the message of a storage failure tells its detail',
        find: `'storage_unavailable', undefined, { cause: error }`,
        replace: `'storage_unavailable', String(error), { cause: error }`,
      },
      {
        name: 'a closed store answers from its cache',
        find: `if (this.#closing !== undefined) throw new PlantStoreError('closed');\n    if (limit === 0)`,
        replace: 'if (limit === 0)',
        tests: [plantPageJson],
      },
      {
        name: 'only the first user of a batch is written to',
        find: '{ user } of writes)',
        replace: '{ user } of writes.slice(0, 1))',
        tests: [plantPageJson],
      },
      {
        name: 'a commit that failed leaves the cache as it is',
        find: '    try {\n      return await asStorageWork(() => commitChecked(this.#storage, writes));\n    } finally {',
        replace:
          '    const outcomes = await asStorageWork(() => commitChecked(this.#storage, writes));\n    try {\n      return outcomes;\n    } finally {',
        tests: [plantPageJson],
      },
      {
        name: 'a page that was read before a commit is kept after it',
        find: 'range.limit, page, forgotten)',
        replace: 'range.limit, page, pages.forgotten)',
        tests: [plantPageJson],
      },
    ],
  ),
  ...faultsIn(
    'src/model/user.ts',
    ['test/model/user.test.ts'],
    [
      { name: 'a user may be empty', find: `value !== '' && `, replace: '' },
      {
        name: 'a user may have 256 bytes',
        find: 'Buffer.byteLength(text) <= maxUserBytes',
        replace: 'Buffer.byteLength(text) <= maxUserBytes + 1',
      },
      {
        name: 'the length of a user is counted in characters',
        find: 'Buffer.byteLength(text)',
        replace: 'text.length',
      },
    ],
  ),
  ...faultsIn(
    'src/model/options.ts',
    ['test/model/options.test.ts'],
    [
      { name: 'unknown options pass', find: 'if (Object.hasOwn(known, name)) continue;', replace: 'continue;' },
      {
        name: 'names that every object has are known options',
        find: 'Object.hasOwn(known, name)',
        replace: 'name in known',
      },
    ],
  ),
  ...faultsIn(
    'src/model/error-text.ts',
    ['test/model/error-text.test.ts'],
    [
      {
        name: 'an error without a stack cannot be reported',
        find: `typeof error.stack === 'string' ? error.stack : `,
        replace: 'error.stack ?? ',
      },
      { name: 'a cause is left out of a report', find: `texts.join('\\nCaused by ')`, replace: `texts[0] ?? ''` },
    ],
  ),
  ...faultsIn(
    'src/model/guard-hook.ts',
    ['test/http/on-error.test.ts'],
    [
      {
        name: 'a hook that rejects ends the process',
        find: 'if (result instanceof Promise) result.catch(onFailure);',
        replace: '',
      },
      { name: 'a report is lost if its hook throws', find: 'fallback(...report);', replace: '' },
    ],
  ),
  ...faultsIn(
    'src/store/list-scheduler.ts',
    ['test/store/list-scheduler.test.ts'],
    [
      {
        name: 'all long lists read a page in every turn',
        find: 'lists === undefined) waiting',
        replace: 'lists === undefined) setImmediate(resolve); else if (lists.length > 1e9) waiting',
      },
      {
        name: 'a second long list never gets its turn',
        find: 'if (waiting.size > 0) setImmediate(giveTurn);',
        replace: '',
      },
      {
        name: 'the lists of one user go before those of others',
        find: 'waiting.delete(user);\n',
        replace: 'if (lists.length === 1) waiting.delete(user);\n',
      },
    ],
  ),
  ...faultsIn(
    'src/store/page-cache.ts',
    [pageCache],
    [
      {
        name: 'a kept page can be changed by whoever gets it',
        find: 'Object.freeze(page)',
        replace: 'page',
        tests: [plantPageJson],
      },
      {
        name: 'a page of another limit is answered',
        find: 'return kept.byLimit.get(limit)',
        replace: 'return [...kept.byLimit.values()][0]',
      },
      {
        name: 'changes by other processes are not noticed',
        find: 'version !== this.#version',
        replace: 'this.#version === undefined',
      },
      {
        name: 'changes by other processes are looked for once',
        find: `  setImmediate(() => {
      this.#isVersionChecked = false;
    });
  `,
        replace: '',
      },
      { name: 'a stale page is kept', find: 'if (forgotten !== this.forgotten) return;', replace: '' },
      {
        name: 'a forgotten page counts for ever',
        find: 'this.#users.delete(user);\n    this.#text -= kept.text;',
        replace: 'this.#users.delete(user);',
      },
      {
        name: 'the cache has no bound',
        find: 'this.#text <= this.#options.maxText',
        replace: 'this.#text <= Infinity',
      },
    ],
  ),
];
