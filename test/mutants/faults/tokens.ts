import { faultsIn } from '../fault.ts';
import type { Fault } from '../fault.ts';

const grants = 'test/tokens/grants.test.ts';

/** `src/tokens`: the tokens file and what it grants. */
export const tokenFaults: readonly Fault[] = [
  ...faultsIn(
    'src/tokens/grants.ts',
    ['test/tokens/authenticator.test.ts'],
    [
      {
        name: 'grants: tokens never expire',
        find: 'return grant.expiresAtMs > Date.now() ? grant.caller : null;',
        replace: 'return grant.caller;',
      },
      { name: 'grants: a cached token stays valid after it is revoked', find: 'this.#verified.clear();', replace: '' },
      {
        name: 'grants: an invalid tokens file revokes all tokens',
        find: 'const problem = `',
        replace: 'this.#grants = new Map();\n    this.#verified.clear();\n    const problem = `',
      },
      {
        name: 'grants: an unreadable tokens file is never read again',
        find: '#failToRead(message: string): void {',
        replace:
          '#failToRead(message: string): void {\n' +
          '    const glimpse = stateOf(this.#path);\n' +
          `    if (glimpse.kind === 'file') this.#signature = glimpse.signature;`,
      },
      {
        name: 'grants: the same problem of the tokens file is reported repeatedly',
        find: 'if (problem !== this.#reported) this',
        replace: 'this',
      },
      {
        name: 'grants: tokens stay valid after the tokens file is removed',
        find: `this.#use('absent', new Map());`,
        replace: `this.#use('absent', this.#grants);`,
      },
      {
        name: 'grants: the tokens file is checked too rarely',
        find: 'checkIntervalMs = 500',
        replace: 'checkIntervalMs = 500_000',
      },
      {
        name: 'grants: a tokens file changed in place is not reloaded',
        find: '${ino} ${size} ${mtimeNs} ${ctimeNs}',
        replace: '${ino}',
      },
      { name: 'grants: a tokens file that its group can read is not reported', find: '0o077n', replace: '0o007n' },
      {
        name: 'grants: every token has the scope plants:write',
        find: '(scopes !== undefined && { scopes })',
        replace: "(scopes !== undefined && { scopes: [...scopes, 'plants:write'] })",
      },
      {
        name: 'grants: tokens stay valid while a changed tokens file is unreadable',
        find: 'this.#isRefusing = true;',
        replace: '',
        tests: [grants],
      },
      {
        name: 'grants: tokens stay refused after the tokens file is readable again',
        find: 'this.#isRefusing = false;',
        replace: '',
        tests: [grants],
      },
      {
        name: 'grants: a lookup does not wait for a reload',
        find: 'return this.#loading.then(() => this.#lookUp(token));',
        replace: 'return this.#lookUp(token);',
        tests: [grants],
      },
      {
        name: 'grants: the old grants are dropped before the new ones are loaded',
        find: 'const grants = new Map<string, Grant>();',
        replace: 'const grants = new Map<string, Grant>();\n    this.#grants = grants;\n    this.#verified.clear();',
        tests: [grants],
      },
    ],
  ),
  ...faultsIn(
    'src/tokens/issue.ts',
    ['test/tokens/issue.test.ts'],
    [
      {
        name: 'issue: the token itself is stored',
        find: 'createdAt: new Date().toISOString(),',
        replace: 'createdAt: new Date().toISOString(),\n    ...{ token },',
      },
      { name: 'issue: the scopes are not stored', find: '...(scopes && { scopes }),', replace: '' },
      {
        name: 'issue: the expiry time is not stored',
        find: '...(expiresAt !== undefined && { expiresAt }),',
        replace: '',
      },
      { name: 'issue: a missing folder is created', find: 'requireTokenFolder(given);', replace: '' },
      { name: 'issue: the tokens file is changed without a lock', find: `lock.exec('BEGIN EXCLUSIVE');`, replace: '' },
      { name: 'issue: a locked tokens file is an error at once', find: ', { timeout: lockTimeoutMs }', replace: '' },
      { name: 'issue: other users can read the tokens file', find: 'mode: 0o600', replace: 'mode: 0o644' },
      {
        name: 'issue: a temporary file left by a killed process is an error',
        find: 'rmSync(newPath, { force: true });',
        replace: '',
      },
      {
        name: 'issue: a symbolic link is replaced by a file',
        find: 'existsSync(given) ? realpathSync(given) : given',
        replace: 'given',
      },
      {
        name: 'issue: an invalid record is stored',
        find: 'if (!isTokenRecord(record)) throw',
        replace: `if (record.user === '') throw`,
      },
      {
        name: 'issue: revoking an unknown token rewrites the tokens file',
        find: 'return existed ? remaining : undefined;',
        replace: 'return remaining;',
      },
      { name: 'issue: revoking a token revokes all others', find: 'record.id !== id', replace: 'record.id === id' },
    ],
  ),
  ...faultsIn(
    'src/tokens/token-file.ts',
    ['test/tokens/token-file.test.ts'],
    [
      { name: 'token file: any user is accepted', find: 'isUser(user) &&', replace: `typeof user === 'string' &&` },
      { name: 'token file: any digest is accepted', find: '[\\da-f]{64}', replace: '[\\da-f]*' },
      {
        name: 'token file: unknown scopes are accepted',
        find: 'allScopes.includes(scope as Scope)',
        replace: `typeof scope === 'string'`,
      },
      {
        name: 'token file: any expiry text is accepted',
        find: 'isTime(expiresAt)',
        replace: `typeof expiresAt === 'string'`,
      },
      {
        name: 'token file: an error message contains the file',
        find: `new Error('it is not JSON')`,
        replace: 'new Error(`it is not JSON: ${text}`)',
      },
      {
        name: 'token file: duplicate digests are accepted',
        find: 'if (other !== undefined) {',
        replace: 'if (other === index) {',
      },
      {
        name: 'token file: parsing a large file blocks the event loop',
        find: 'if (++count % sliceLength === 0) await',
        replace: 'if (++count < 0) await',
        tests: [grants],
      },
      { name: 'token file: an unknown version is accepted', find: 'version !== 1 || ', replace: '' },
    ],
  ),
  ...faultsIn(
    'src/tokens/token.ts',
    ['test/tokens/token.test.ts'],
    [
      { name: 'token: the digest is not SHA-256', find: `hash('sha256'`, replace: `hash('sha1'` },
      { name: 'token: the secret is too short', find: 'secretLength = 30', replace: 'secretLength = 20' },
      { name: 'token: the checksum has no leading zeros', find: `.padStart(checksumLength, '0')`, replace: '' },
      {
        name: 'token: the last character of the alphabet is never used',
        find: 'randomInt(alphabet.length)',
        replace: 'randomInt(alphabet.length - 1)',
      },
    ],
  ),
];
