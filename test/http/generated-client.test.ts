import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';
import { startService } from '../support/service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import type { HasAfter } from '../support/temporary-folder.ts';

const nodeModules = fileURLToPath(new URL('../../node_modules', import.meta.url));
const tsc = join(nodeModules, 'typescript/bin/tsc');

const tsconfig = {
  compilerOptions: {
    target: 'es2023',
    lib: ['es2023', 'dom', 'dom.iterable'],
    module: 'nodenext',
    types: ['node'],
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
    outDir: 'out',
  },
};

const createClient = `
import createClient from 'openapi-fetch';
import type { components, paths } from './plants.js';

const client = createClient<paths>({
  baseUrl: process.argv[2] ?? '',
  headers: { Authorization: 'Bearer ada' },
});
`;

/** Prints what each call came to, one JSON a line. */
const rightClient = `${createClient}
type Plant = components['schemas']['Plant'];
type NewPlant = components['schemas']['NewPlant'];
type ErrorBody = components['schemas']['Error'];
const print = (value: unknown): void => { console.log(JSON.stringify(value)); };

const fern: NewPlant = { id: 1, name: 'Fern', tag: 'pteridophyte' };
const created = await client.POST('/plants', { body: fern });
const plant: Plant | undefined = created.data;
print([created.response.status, plant?.name, plant?.tag]);

await client.POST('/plants', { body: { id: 2, name: 'Moss' } });
const listed = await client.GET('/plants', { params: { query: { limit: 1 } } });
const names: string[] = listed.data?.map(({ name }) => name) ?? [];
print([listed.response.status, names, listed.response.headers.get('link')]);
const rest = await client.GET('/plants', { params: { query: { after: 1 } } });
print([rest.response.status, rest.data]);

const taken = await client.POST('/plants', { body: fern });
const error: ErrorBody | undefined = taken.error;
const code: number | undefined = error?.error;
const message: string | undefined = error?.message;
print([taken.response.status, code, message, taken.error?.error === 40003]);

const deleted = await client.DELETE('/plants/{id}', { params: { path: { id: 1 } } });
print([deleted.response.status, deleted.data ?? null]);
const absent = await client.DELETE('/plants/{id}', { params: { path: { id: 1 } } });
print([absent.response.status, absent.error]);
`;

/** Every statement after the first ones is wrong, one a line. */
const wrongLines = [
  "await client.POST('/plants', { body: { id: 1 } });",
  "await client.POST('/plants', { body: { name: 'Fern' } });",
  "await client.POST('/plants', { body: { id: '1', name: 'Fern' } });",
  "await client.POST('/plants', { body: { id: 1, name: 'Fern', tag: null } });",
  "await client.POST('/plants', {});",
  "await client.GET('/plants', { params: { query: { limit: 'all' } } });",
  "await client.DELETE('/plants/{id}', {});",
  "await client.DELETE('/plants', {});",
  "await client.GET('/trees', {});",
  "(await client.GET('/plants')).data?.[0]?.id;",
  "(await client.POST('/plants', { body: { id: 1, name: 'Fern' } })).error?.code;",
  "(await client.POST('/plants', { body: { id: 1, name: 'Fern' } })).error?.error === 99999;",
  "export const plant: components['schemas']['Plant'] = {};",
];

interface Ran {
  readonly code: number | null;
  readonly output: string;
}

/** Runs a script to its end under the Node that runs the tests. */
async function runNode(cwd: string, args: string[]): Promise<Ran> {
  // Coverage is not measured of the compiler and the client.
  const env = { ...process.env, NODE_V8_COVERAGE: '' };
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), exited]);
  return { code, output: stdout + stderr };
}

/** A folder with types generated from the document that a live service serves. */
async function generateClient(t: HasAfter): Promise<{ folder: string; url: string }> {
  const { url } = await startService(t);
  const document = await (await fetch(`${url}/openapi.json`)).text();
  const folder = await temporaryFolder(t);
  await writeFile(join(folder, 'plants.ts'), astToString(await openapiTS(document)));
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig));
  await symlink(nodeModules, join(folder, 'node_modules'));
  return { folder, url };
}

describe('a client generated by openapi-typescript', () => {
  it('type-checks strictly, then creates, lists, deletes, and gets typed errors', async (t) => {
    const { folder, url } = await generateClient(t);
    await writeFile(join(folder, 'client.ts'), rightClient);
    const compiled = await runNode(folder, [tsc]);
    assert.equal(compiled.code, 0, compiled.output);

    const ran = await runNode(folder, ['out/client.js', url]);
    assert.equal(ran.code, 0, ran.output);
    assert.deepEqual(
      ran.output
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown),
      [
        [200, 'Fern', 'pteridophyte'],
        [200, ['Fern'], '</plants?limit=1&after=1>; rel="next"'],
        [200, [{ name: 'Moss' }]],
        [400, 40003, 'You already have a plant with this id.', true],
        [204, null],
        [404, { error: 40402, message: 'You have no plant with this id.' }],
      ],
    );
  });

  it('does not type-check where a call is wrong', async (t) => {
    const { folder } = await generateClient(t);
    await writeFile(join(folder, 'client.ts'), createClient + wrongLines.join('\n'));
    const { code, output } = await runNode(folder, [tsc, '--noEmit', '--pretty', 'false']);
    assert.notEqual(code, 0);
    const reported = new Set([...output.matchAll(/^client\.ts\((\d+),/gm)].map(([, line]) => Number(line)));
    const firstLine = createClient.split('\n').length;
    assert.deepEqual(
      wrongLines.filter((_, index) => !reported.has(firstLine + index)),
      [],
      output,
    );
    assert.equal(reported.size, wrongLines.length, output);
  });
});
