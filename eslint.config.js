import js from '@eslint/js';
import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

const builtIns = [
  '(Aggregate|Eval|Range|Reference|Syntax|Type|URI)?Error',
  '(Shared)?ArrayBuffer|(Big)?(Int|Uint|Float)(8|8Clamped|16|32|64)Array|DataView|Buffer|Blob',
  'Array|Date|Function|Map|Object|Promise|RegExp|Set|Weak(Map|Ref|Set)',
  'Abort(Controller|Signal)|DOMException|Event(Target)?|FormData|Headers|ReadableStream|Request|Response|URL',
];

export default defineConfig(
  // The framework examples and apps import packages that only `npm ci --prefix …` installs.
  { ignores: ['dist/', 'coverage/', 'reference/', 'examples/frameworks/', 'test/frameworks/apps/'] },
  js.configs.recommended,
  { languageOptions: { globals: { process: 'readonly', console: 'readonly' } } },
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      'max-lines': ['error', 300],
      curly: ['error', 'multi-line'],
      'no-restricted-exports': ['error', { restrictDefaultExports: { direct: true, named: true, defaultFrom: true } }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      // This project uses async functions without `await` to turn thrown errors into rejections.
      '@typescript-eslint/require-await': 'off',
    },
  },
  {
    // Test runners replace the global timers and clocks: a timer that is read from the global scope would never fire.
    files: ['src/**/*.ts'],
    rules: {
      'no-restricted-globals': [
        'error',
        ...['setTimeout', 'setInterval', 'setImmediate', 'clearTimeout', 'clearInterval', 'clearImmediate'].map(
          (name) => ({ name, message: 'Import it from node:timers.' }),
        ),
        { name: 'performance', message: 'Import it from node:perf_hooks.' },
        { name: 'queueMicrotask', message: 'Test runners replace it. Use a promise.' },
      ],
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'nextTick', message: 'Test runners replace it. Use a promise.' },
        { object: 'Promise', property: 'withResolvers', message: 'A library may replace Promise by one without it.' },
      ],
      'no-restricted-syntax': [
        'error',
        {
          selector: `BinaryExpression[operator='instanceof'][right.name=/^(${builtIns.join('|')})$/]`,
          message: 'It is false for an object of another realm, and for a promise if a library replaces Promise.',
        },
      ],
    },
  },
  {
    // node:test keeps track of the promises that describe() and it() return.
    files: ['src/testing/**/*.ts', 'test/**/*.ts'],
    rules: {
      '@typescript-eslint/no-floating-promises': [
        'error',
        { allowForKnownSafeCalls: [{ from: 'package', package: 'node:test', name: ['describe', 'it'] }] },
      ],
    },
  },
);
