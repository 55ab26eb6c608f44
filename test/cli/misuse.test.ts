import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { it } from 'node:test';
import { callCommand } from '../support/call-command.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Invalid command lines, separated by spaces, each with a key word of its message. */
const misuses: [args: string, keyword: string][] = [
  ['serv', 'serve, token'],
  ['serve -- --help', "'--help'"],
  ['serve --prot 1', '--port'],
  ['serve --port', '--port'],
  ['serve --docs=yes', '--docs'],
  ['serve --port 65536', '65535'],
  ['serve --port 0x10', "'0x10'"],
  ['serve --drain-delay 2s', '--drain-delay'],
  ['serve --log xml', 'pretty'],
  ['serve --log-level debug', 'error'],
  // The arguments of a wrong command line can contain a password.
  ...['serve', 'import', 'serve --port', 'serve --log', 'token create ada --scope'].map((command): [string, string] => [
    `${command} postgres://ada:sesame@localhost/plants`,
    'plant-store: ',
  ]),
  // Node.js would listen on all addresses if the host were empty.
  ...['--port', '--log', '--host', '--tokens'].map((flag): [string, string] => [`serve ${flag}=`, 'empty']),
  ['serve --storage plants.db', 'write sqlite:plants.db.'],
  ['serve --storage data/plants.db', 'write sqlite:data/plants.db.'],
  ['export --storage sqlite:why?.db', "must not contain '?'"],
  ['serve --base-path /garden/', '--base-path'],
  ['serve --admin-host 127.0.0.1', '--admin-port'],
  ['serve --cors-origin app.example.com', '--cors-origin'],
  ['copy', '--from must be sqlite:FILE'],
  ['copy --from sqlite:a.db', '--to must be sqlite:FILE'],
  ['copy --from memory --to sqlite:a.db', '--from'],
  ['export plants.ndjson', "'plants.ndjson'"],
  ['import --storage memory', 'sqlite:FILE'],
  ['backup', 'TARGET'],
  ['backup --storage memory a.db', 'sqlite:FILE'],
  ['restore', 'BACKUP'],
  ...['sqlite:', 'sqlite::memory:', 'sqlite://plants.db', 'mongodb://ada:sesame@localhost'].map(
    (text): [string, string] => [`export --storage ${text}`, 'sqlite:FILE'],
  ),
  ['export --storage sqlite:x?mode=ro', 'commitThread=true'],
  ['export --storage postgres://ada:sesame@localhost:port/plants', 'Invalid URL'],
  ['export --storage postgres://ada:sesame@localhost/plants?sslrootcert=none.pem', 'none.pem'],
  ['export --storage postgres://ada:sesame@localhost/plants?max=many', 'max'],
  ['export --storage postgres://ada:sesame@localhost/plants?schema=', 'schema'],
  // pg would take a part of the password for the host.
  ...['sesame@/sesame', 'sesame@sesame', 'sesame/x', 'sesame?x', 'sesame#x'].map((password): [string, string] => [
    `export --storage postgres://ada:${password}@localhost/plants`,
    '%40',
  ]),
  ['token', 'create, list or revoke'],
  ['token create', 'USER'],
  ['token create \ud800', 'USER'],
  ['token create ada --scope plants:admin', "'plants:admin'"],
  ['token create ada --expires-in -5d', '--expires-in='],
  ...['30', '0d', '1.5d', '1y', '99999999999d'].map((text): [string, string] => [
    `token create ada --expires-in=${text}`,
    '30d',
  ]),
  ['token revoke', 'ID'],
];

it('plant-store with invalid arguments › exits with 2, prints one sentence without secrets, and creates no files', async (t) => {
  const cwd = await temporaryFolder(t);
  for (const [args, keyword] of misuses) {
    const { code, stdout, stderr } = await callCommand(args.split(' '), { cwd });
    assert.deepEqual([code, stdout], [2, ''], args);
    assert.match(stderr, /^plant-store: [^\n]*\.\n$/);
    assert.ok(stderr.includes(keyword), `${args}: ${stderr}`);
    assert.ok(!stderr.includes('sesame'), stderr);
  }
  assert.deepEqual(await readdir(cwd), []);
});
