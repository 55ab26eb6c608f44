import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { errorTable } from '../../../src/index.ts';
import { callCommand } from '../../support/call-command.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** The arguments, as an array or separated by spaces, and the sentence that is printed after `plant-store: `. */
type Misuse = [args: string | string[], sentence: string];

const commands: Misuse[] = [
  ['plant', "There is no command 'plant'. See plant-store --help."],
  ['serv', "There is no command 'serv'. Did you mean 'serve'?"],
  ['Export', "There is no command 'Export'. Did you mean 'export'?"],
  ['bakcup', "There is no command 'bakcup'. Did you mean 'backup'?"],
  ['exp', "There is no command 'exp'. Did you mean 'export'?"],
  ['e', "There is no command 'e'. See plant-store --help."],
  // The search for a similar name must not take longer for a long text.
  ['x'.repeat(1000), `There is no command '${'x'.repeat(1000)}'. See plant-store --help.`],
  ['help serv', "There is no command 'serv'. Did you mean 'serve'?"],
  ['toString --help', "There is no command 'toString'. See plant-store --help."],
  ['--port 1', "Unknown option '--port'. See plant-store --help."],
  ['--versoin', "Unknown option '--versoin'. Did you mean '--version'?"],
];

const serve: Misuse[] = [
  ['serve now', "Unexpected argument 'now'. See plant-store serve --help."],
  ['serve -- --help', "Unexpected argument '--help'. See plant-store serve --help."],
  ['serve --bogus', "Unknown option '--bogus'. See plant-store serve --help."],
  ...['prot', 'poort', 'porz', 'por'].map((text): Misuse => [
    `serve --${text} 1`,
    `Unknown option '--${text}'. Did you mean '--port'?`,
  ]),
  ['serve --stor=memory', "Unknown option '--stor'. Did you mean '--storage'?"],
  ['serve --halp', "Unknown option '--halp'. Did you mean '--help'?"],
  ['serve -p 1', "Unknown option '-p'. See plant-store serve --help."],
  ['serve --port', "Option '--port <value>' argument missing. See plant-store serve --help."],
  ['serve --port --host', "Option '--port' argument is ambiguous. See plant-store serve --help."],
  ['serve --port 65536', "--port must be 0 to 65535, not '65536'."],
  ['serve --port 0x10', "--port must be 0 to 65535, not '0x10'."],
  ['serve --port=-1', "--port must be 0 to 65535, not '-1'."],
  ['serve --log xml', "--log must be json, pretty or off, not 'xml'."],
  // Node.js would listen on all addresses if the host were empty.
  ...['--port', '--log', '--host', '--tokens'].map((flag): Misuse => [`serve ${flag}=`, `${flag} must not be empty.`]),
  ['serve --trusted-proxies=-1', "--trusted-proxies must be 0 to 99, not '-1'."],
  ['serve --port 3105 --admin-port 3105', '--port and --admin-port must not be the same port.'],
  ['serve --admin-port 3000', '--port and --admin-port must not be the same port.'],
  ['serve --admin-host ::1', '--admin-host has no effect without --admin-port.'],
  [
    'serve --base-path /garden/',
    "--base-path must be a path that begins with a slash and does not end with one, such as /garden, not '/garden/'.",
  ],
  [
    'serve --cors-origin app.example.com',
    "--cors-origin must be '*' or origins such as https://app.example.com, in lower case and without a path or default port, not 'app.example.com'.",
  ],
];

const forms = "must be 'memory', 'sqlite:FILE' or 'postgres://…', not";
const notMemory =
  "must not be 'memory', which is empty before the command and gone after it. Name a file or a database.";
const transfers: Misuse[] = [
  ['copy', 'copy requires --from STORAGE, such as --from sqlite:plants.db.'],
  ['copy --from sqlite:a.db', 'copy requires --to STORAGE, such as --to sqlite:plants.db.'],
  ['copy --from sqlite:a.db --to=', 'copy requires --to STORAGE, such as --to sqlite:plants.db.'],
  ['copy --from memory --to sqlite:a.db', `--from ${notMemory}`],
  ['copy --from sqlite:a.db --to sqlite:./a.db', '--from and --to must not be the same storage.'],
  ['copy --from mongodb:x --to sqlite:a.db', `--from ${forms} 'mongodb:x'.`],
  ['export --storage memory', `--storage ${notMemory}`],
  ['export plants.ndjson', "Unexpected argument 'plants.ndjson'. See plant-store export --help."],
  ['import --storage memory', `--storage ${notMemory}`],
  ['import --strict=yes', "Option '--strict' does not take an argument. See plant-store import --help."],
  ['backup', 'backup requires TARGET, the name of the new file. See plant-store backup --help.'],
  ['backup a.db b.db', "Unexpected argument 'b.db'. See plant-store backup --help."],
  ['backup --storage memory a.db', "--storage must be 'sqlite:FILE' for a backup. Back up PostgreSQL with pg_dump."],
];

const storages: [text: string, quoted?: string, suggested?: string][] = [
  ['sqlite'],
  ['sqlite:'],
  ['sqlite::memory:'],
  ['postgres'],
  ['mongodb://localhost'],
  ['Memory', 'Memory', 'memory'],
  ['memory:', 'memory:', 'memory'],
  ['memroy', 'memroy', 'memory'],
  ['plants.db', 'plants.db', 'sqlite:plants.db'],
  ['../my data/plants', '../my data/plants', 'sqlite:../my data/plants'],
  ['/var/lib/plants.sqlite3', '/var/lib/plants.sqlite3', 'sqlite:/var/lib/plants.sqlite3'],
  // The message does not show a password.
  ['mysql://ada:sesame@localhost/plants', 'mysql://…@localhost/plants'],
  ['postgre:/ada:sesame@localhost/plants', 'postgre:/…@localhost/plants'],
  ['Postgres://localhost/plants?password=sesame', 'Postgres://localhost/plants?…', 'postgres://…'],
  ['postgress://ada:sesame@localhost/plants', 'postgress://…@localhost/plants', 'postgres://…'],
  ['ada:sesame@localhost', 'ada:…@localhost'],
];

const onlyParameter = 'The only parameter of sqlite:FILE is commitThread.';
const slashes = "--storage must not have '//' after 'sqlite:'. Use";
const current = 'for a path in the current folder';
const files: [text: string, sentence: string][] = [
  ['sqlite:x?commitTread=true', `--storage has the parameter 'commitTread'. ${onlyParameter}`],
  ['sqlite:x?mode=ro&commitThread=true', `--storage has the parameter 'mode'. ${onlyParameter}`],
  ['sqlite:x?readonly', `--storage has the parameter 'readonly'. ${onlyParameter}`],
  ['sqlite:x?commitThread=1', "commitThread in --storage must be true or false, not '1'."],
  ['sqlite:x?commitThread', "commitThread in --storage must be true or false, not ''."],
  ['sqlite:x?commitThread=true&commitThread=false', 'commitThread must not be given twice in --storage.'],
  // Different programs interpret these forms differently.
  ['sqlite://plants.db', `${slashes} 'sqlite:plants.db'.`],
  ['sqlite:///abs/x.db', `${slashes} 'sqlite:/abs/x.db', or 'sqlite:abs/x.db' ${current}.`],
  [
    'sqlite:///x.db?commitThread=true',
    `${slashes} 'sqlite:/x.db?commitThread=true', or 'sqlite:x.db?commitThread=true' ${current}.`,
  ],
  ['sqlite:////abs/x.db', `${slashes} 'sqlite:/abs/x.db'.`],
  ['sqlite://', `${slashes} sqlite:FILE, such as 'sqlite:plants.db'.`],
  // The message does not contain the password.
  ['postgres://ada:sesame@localhost:port/plants', '--storage is not a connection string that pg accepts: Invalid URL.'],
  [
    'postgres://ada:sesame@localhost/plants?sslrootcert=none.pem',
    "--storage is not a connection string that pg accepts: ENOENT: no such file or directory, open 'none.pem'.",
  ],
];

const badScope = '--scope must be plants:read or plants:write, not';
const repeat = 'To name both, repeat --scope.';
const tokens: Misuse[] = [
  ['token', 'token must be followed by create, list or revoke. See plant-store token --help.'],
  ['token make', "token has no command 'make'. See plant-store token --help."],
  ['token creat ada', "token has no command 'creat'. Did you mean 'create'?"],
  ['token create', 'token create requires a USER. See plant-store token --help.'],
  ['token create ', 'token create requires a USER. See plant-store token --help.'],
  ['token create ada bob', "Unexpected argument 'bob'. See plant-store token --help."],
  ['token create \ud800', `USER is invalid: ${errorTable.invalid_user.message}`],
  ['token create ada --scope plants:admin', `${badScope} 'plants:admin'. ${repeat}`],
  ['token create ada --scope=', `${badScope} ''. ${repeat}`],
  ...['30', 'd', '0d', '-1d', '1.5d', '30D', '1y', '', '99999999999d'].map((text): Misuse => [
    `token create ada --expires-in=${text}`,
    `--expires-in must be a number of at least 1 and s, m, h, d or w, as in 30d, not '${text}'.`,
  ]),
  ['token create ada --tokens=', '--tokens must not be empty.'],
  ['token create ada --user x', "Unknown option '--user'. See plant-store token --help."],
  ['token list ada', "Unexpected argument 'ada'. See plant-store token --help."],
  ['token list --scope plants:read', "Unknown option '--scope'. See plant-store token --help."],
  ['token revoke', 'token revoke requires the ID of a token. See plant-store token list.'],
  ['token revoke tk_1 tk_2', "Unexpected argument 'tk_2'. See plant-store token --help."],
];

const url = 'http://127.0.0.1:9';
const twoTokens = '--token ada --token bob';
const needsTwo = 'check needs two tokens: --token A --token B, or PLANT_STORE_CHECK_TOKENS.';
const badToken = 'must be a bearer token, without spaces and quotes.';
const checks: Misuse[] = [
  ['check', 'check needs the BASE_URL of a server.'],
  [`check  ${twoTokens}`, 'check needs the BASE_URL of a server.'],
  ...['localhost:3000', 'ftp://x', 'http://ada:x@127.0.0.1', 'http://127.0.0.1/?x=1'].map((text): Misuse => [
    `check ${text} ${twoTokens}`,
    `BASE_URL must be an address such as https://example.com/garden, not '${text}'.`,
  ]),
  [`check ${url} again ${twoTokens}`, "Unexpected argument 'again'. See plant-store check --help."],
  [`check ${url}`, needsTwo],
  [`check ${url} --token ada`, needsTwo],
  [`check ${url} ${twoTokens} --token eve`, needsTwo],
  [`check ${url} --token ada --token ada`, 'Both tokens are the same: use the tokens of two users.'],
  [['check', url, '--token', 'a b', '--token', 'bob'], `--token ${badToken}`],
  [`check ${url} ${twoTokens} --read-only-token=`, `--read-only-token ${badToken}`],
  [`check ${url} ${twoTokens} --clients 8`, '--clients needs --concurrent.'],
  [`check ${url} ${twoTokens} --operations 8`, '--operations needs --concurrent.'],
  [`check ${url} ${twoTokens} --concurrent --clients 65`, "--clients must be 1 to 64, not '65'."],
  [`check ${url} ${twoTokens} --concurrent --operations 1e3`, "--operations must be 1 to 1000000, not '1e3'."],
];

describe('plant-store, with invalid arguments,', () => {
  for (const [args, sentence] of [
    ...commands,
    ...serve,
    ...transfers,
    ...storages.map(([text, quoted = text, suggested]): Misuse => {
      const suggestion = suggested === undefined ? '' : ` Did you mean '${suggested}'?`;
      return [['export', '--storage', text], `--storage ${forms} '${quoted}'.${suggestion}`];
    }),
    ...files.map(([text, sentence]): Misuse => [['export', '--storage', text], sentence]),
    ...tokens,
    ...checks,
  ]) {
    it(`exits with 2 and one sentence without creating files: ${JSON.stringify(args)}`, async (t) => {
      const cwd = await temporaryFolder(t);
      const finished = await callCommand(typeof args === 'string' ? args.split(' ') : args, { cwd });
      assert.deepEqual(finished, { code: 2, stdout: '', stderr: `plant-store: ${sentence}\n` });
      assert.deepEqual(await readdir(cwd), []);
    });
  }
});
