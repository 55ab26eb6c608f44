import { faultsIn } from '../fault.ts';
import type { Fault } from '../fault.ts';

const authenticate = 'test/tokens/authenticator.test.ts';
const file = 'test/tokens/token-file.test.ts';
const grants = 'test/tokens/grants.test.ts';
const issue = 'test/tokens/issue.test.ts';
const token = 'test/tokens/token.test.ts';

/** Who gets in, for how long, and what is kept of a secret. */
export const tokenFaults: readonly Fault[] = [
  ...faultsIn(
    'src/tokens/grants.ts',
    [authenticate],
    [
      {
        name: 'a token never expires',
        find: 'return grant.expiresAtMs > Date.now() ? grant.caller : null;',
        replace: 'return grant.caller;',
      },
      { name: 'a revoked token that was used before stays good', find: 'this.#verified.clear();', replace: '' },
      {
        name: 'a file that turned invalid shuts everybody out',
        find: 'const problem = `',
        replace: 'this.#grants = new Map();\n    this.#verified.clear();\n    const problem = `',
      },
      {
        name: 'a tokens file that could not be read is never read again',
        find: '#failToRead(message: string): void {',
        replace:
          "#failToRead(message: string): void {\n    const glimpse = lookAt(this.#path);\n    if (glimpse.kind === 'file') this.#signature = glimpse.signature;",
      },
      {
        name: 'a tokens file that is bad is reported again and again',
        find: 'if (problem !== this.#reported) this',
        replace: 'this',
      },
      {
        name: 'a file that was removed lets everybody in',
        find: `this.#use('absent', new Map());`,
        replace: `this.#use('absent', this.#grants);`,
      },
      {
        name: 'changes of the file count after minutes',
        find: 'checkIntervalMs = 500',
        replace: 'checkIntervalMs = 500_000',
      },
      {
        name: 'a file that was written in place is not noticed',
        find: '${ino} ${size} ${mtimeNs} ${ctimeNs}',
        replace: '${ino}',
      },
      { name: 'a file that its group can read is no problem', find: '0o077n', replace: '0o007n' },
      {
        name: 'a token has every scope',
        find: 'scopes === undefined ? { user } : { user, scopes }',
        replace: "scopes === undefined ? { user } : { user, scopes: [...scopes, 'plants:write'] }",
      },
      {
        name: 'old tokens stay good while a changed file cannot be read',
        find: 'this.#isRefusing = true;',
        replace: '',
        tests: [grants],
      },
      {
        name: 'tokens are refused for good after a file could not be read',
        find: 'this.#isRefusing = false;',
        replace: '',
        tests: [grants],
      },
      {
        name: 'a revoked token is good once more after an idle hour',
        find: 'return this.#loading.then(() => this.#lookUp(token));',
        replace: 'return this.#lookUp(token);',
        tests: [grants],
      },
      {
        name: 'the old grants end before the new ones are complete',
        find: 'const grants = new Map<string, Grant>();',
        replace: 'const grants = new Map<string, Grant>();\n    this.#grants = grants;\n    this.#verified.clear();',
        tests: [grants],
      },
    ],
  ),
  ...faultsIn(
    'src/tokens/token-file.ts',
    [file],
    [
      { name: 'a record may have any user', find: 'isUser(user) &&', replace: `typeof user === 'string' &&` },
      { name: 'a record may have any digest', find: '[\\da-f]{64}', replace: '[\\da-f]*' },
      {
        name: 'a record may have unknown scopes',
        find: 'allScopes.includes(scope as Scope)',
        replace: `typeof scope === 'string'`,
      },
      { name: 'a record may expire at any text', find: 'isTime(expiresAt)', replace: `typeof expiresAt === 'string'` },
      {
        name: 'a message quotes the tokens file',
        find: `new Error('it is not JSON')`,
        replace: 'new Error(`it is not JSON: ${text}`)',
      },
      {
        name: 'of two records with one digest the last one counts',
        find: 'if (other !== undefined) {',
        replace: 'if (other === index) {',
      },
      {
        name: 'reading a large tokens file blocks',
        find: 'if (++count % sliceLength === 0) await',
        replace: 'if (++count < 0) await',
        tests: [grants],
      },
      { name: 'a file of another version is taken', find: 'version !== 1 || ', replace: '' },
    ],
  ),
  ...faultsIn(
    'src/tokens/issue.ts',
    [issue],
    [
      {
        name: 'the token itself is kept',
        find: 'createdAt: new Date().toISOString(),',
        replace: 'createdAt: new Date().toISOString(),\n    ...{ token },',
      },
      { name: 'the scopes of a new token are lost', find: '...(scopes && { scopes }),', replace: '' },
      {
        name: 'the expiry of a new token is lost',
        find: '...(expiresAt !== undefined && { expiresAt }),',
        replace: '',
      },
      { name: 'a mistyped folder is made', find: 'requireTokenFolder(given);', replace: '' },
      { name: 'a change takes no lock', find: `lock.exec('BEGIN EXCLUSIVE');`, replace: '' },
      { name: 'the lock is not waited for', find: ', { timeout: lockTimeoutMs }', replace: '' },
      { name: 'the tokens file can be read by others', find: 'mode: 0o600', replace: 'mode: 0o644' },
      { name: 'what a killed process left is in the way', find: 'rmSync(beside, { force: true });', replace: '' },
      {
        name: 'a link to the tokens file is replaced by a file',
        find: 'existsSync(given) ? realpathSync(given) : given',
        replace: 'given',
      },
      {
        name: 'a grant that no reader takes is written',
        find: 'if (!isTokenRecord(record)) throw',
        replace: `if (record.user === '') throw`,
      },
      {
        name: 'revoking an unknown token writes',
        find: 'return wasThere ? kept : undefined;',
        replace: 'return kept;',
      },
      { name: 'revoking takes every other token', find: 'record.id !== id', replace: 'record.id === id' },
    ],
  ),
  ...faultsIn(
    'src/tokens/token.ts',
    [token],
    [
      { name: 'a digest is not SHA-256', find: `hash('sha256'`, replace: `hash('sha1'` },
      { name: 'a token has few random digits', find: 'secretLength = 30', replace: 'secretLength = 20' },
      { name: 'a checksum loses its leading zeros', find: `.padStart(checksumLength, '0')`, replace: '' },
      {
        name: 'the last digit is never drawn',
        find: 'randomInt(alphabet.length)',
        replace: 'randomInt(alphabet.length - 1)',
      },
    ],
  ),
];
