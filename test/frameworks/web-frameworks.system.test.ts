import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { assertConforms } from '../support/conformance.ts';
import { readDocument } from '../support/documents.ts';
import { skipWithout } from '../support/system-fault.ts';
import { plainEnvironment, runSuccessfully } from '../support/run-program.ts';
import { root } from '../support/sources.ts';
import { createAll, rowOfPlants } from '../support/stored-plants.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { addPlantStore, apps, examples, startProgram } from './program.ts';

/** Builds an app with a route in a folder, and returns the Node.js arguments that serve it on `process.env.PORT`. */
type Build = (folder: string, route: string) => Promise<string[]>;

const packages = join(apps, 'node_modules');
const vite = join(packages, 'vite/bin/vite.js');
const next = join(packages, 'next/dist/bin/next');

const buildSvelteKit: Build = async (folder, route) => {
  await build(folder, [vite, 'build'], {
    'src/routes/garden/[...path]/+server.ts': route,
    'src/app.html': '%sveltekit.head%%sveltekit.body%',
    'vite.config.js': `
      import adapter from '@sveltejs/adapter-node';
      import { sveltekit } from '@sveltejs/kit/vite';
      export default { plugins: [sveltekit({ adapter: adapter(), csrf: { trustedOrigins: ['*'] } })] };
    `,
  });
  return ['build'];
};

const buildNext: Build = async (folder, route) => {
  await build(folder, [next, 'build'], {
    // With TypeScript, Next.js would install packages.
    'app/garden/[[...path]]/route.js': stripTypeScriptTypes(route),
    // The default root is the folder, but node_modules is a link.
    'next.config.js': "export default { skipTrailingSlashRedirect: true, turbopack: { root: '/' } };",
  });
  return [next, 'start', '--hostname', '127.0.0.1', '--port', '0'];
};

async function build(folder: string, args: string[], files: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  await symlink(packages, join(folder, 'node_modules'), 'dir');
  const env = { ...plainEnvironment(), NODE_V8_COVERAGE: '', NEXT_TELEMETRY_DISABLED: '1' };
  await runSuccessfully(process.execPath, args, { cwd: folder, env, timeoutMs: 540_000 });
}

/** An example, and how it mounts the service. */
interface Mount {
  /** The path under which the service is mounted; default `/garden`. */
  readonly prefix?: string;
  /** Default Node.js. */
  readonly runtime?: keyof typeof runtimes;
  /** Builds the app, if the example is a route of it. */
  readonly build?: Build;
  /** Conformance checks that fail because of how the framework's own server handles connections. */
  readonly skipped?: readonly string[];
}

/** Most servers of the Fetch API process pipelined requests in parallel. */
const inParallel = 'bytes-pipelining';
const binaries = join(root, 'test/runtimes/node_modules/.bin');
const denoFlags = ['--allow-all', '--node-modules-dir=manual', '--host', '127.0.0.1', '--port', '0'];
const runtimes = {
  node: [process.execPath],
  bun: [join(binaries, 'bun')],
  deno: [join(binaries, 'deno'), 'serve', ...denoFlags],
};

const callers = `({
  'token-of-ada': { user: 'ada' },
  'token-of-adam': { user: 'adam' },
  'read-only-token': { user: 'ada', scopes: ['plants:read'] },
  collector: { user: 'collector' },
}[token] ?? null)`;

/** Begins to send a plant, and disconnects. */
async function disconnectWhileSending(url: string, headers: Record<string, string>): Promise<void> {
  const sent = request(url, { method: 'POST', headers }).on('error', () => undefined);
  sent.write('{"id":5,');
  await sleep(50);
  sent.destroy();
}

/** Requests a list, and disconnects after the first part of the response. */
async function disconnectWhileReading(url: string, headers: Record<string, string>): Promise<void> {
  const abort = new AbortController();
  const { body } = await fetch(url, { headers, signal: abort.signal });
  await body?.getReader().read();
  abort.abort();
}

/** Returns the command that serves an example with other tokens. */
async function prepare(cwd: string, code: string, command: readonly string[], build?: Build): Promise<string[]> {
  await writeFile(join(cwd, 'package.json'), '{"type":"module"}');
  if (build !== undefined) {
    const args = await build(cwd, code);
    assert.ok(!existsSync(join(cwd, 'plants.db')), 'The build opened the database.');
    return [...command, ...args];
  }
  await symlink(join(examples, 'node_modules'), join(cwd, 'node_modules'), 'dir');
  await writeFile(join(cwd, 'program.ts'), code);
  return [...command, './program.ts'];
}

/** Checks that an example passes every conformance check, and survives disconnects. */
async function checkMount(t: TestContext, file: string, mount: Mount = {}): Promise<void> {
  const { prefix = '/garden', runtime = 'node', build, skipped = [] } = mount;
  const text = await readDocument(`examples/frameworks/${file}`);
  const changed = text.replace(/\(token === \S+ \? \{ user: 'ada' \} : null\)/, callers);
  assert.notEqual(changed, text);
  const cwd = await temporaryFolder(t);
  const command = await prepare(cwd, changed, runtimes[runtime], build);
  const { url, stdout, stderr, isRunning, stop } = await startProgram(t, command, cwd, { HOST: '127.0.0.1' });

  const tokens = { a: 'token-of-ada', b: 'token-of-adam', readOnly: 'read-only-token' };
  await assertConforms(url + prefix, tokens, { skipped });
  if (text.includes('the app itself')) assert.equal(await (await fetch(url)).text(), 'the app itself');

  await createAll(join(cwd, 'plants.db'), rowOfPlants('collector', 3000, 'x'.repeat(1000)));
  const plants = `${url}${prefix}/plants`;
  const headers = { authorization: 'Bearer collector', 'content-type': 'application/json' };
  await disconnectWhileSending(plants, headers);
  await disconnectWhileReading(plants, headers);
  const list = await fetch(plants, { headers });
  assert.equal(((await list.json()) as unknown[]).length, 3000);
  assert.ok(isRunning());
  if (text.includes('drainServer')) assert.equal(await stop(), 0);
  assert.doesNotMatch(stdout() + stderr(), /unhandled|uncaught|failed:|[a-z]Error\b/i);
}

const skip = addPlantStore(examples) || addPlantStore(apps) || skipWithout('test/runtimes');

describe('examples of web frameworks', { concurrency: 2, skip }, () => {
  it('express.ts › passes every check', (t) => checkMount(t, 'express.ts'));
  it('fastify.ts › passes every check', (t) => checkMount(t, 'fastify.ts'));
  it('koa.ts › passes every check', (t) => checkMount(t, 'koa.ts'));
  it('hono.ts › passes every check', (t) => checkMount(t, 'hono.ts', { skipped: [inParallel] }));
  it('nextjs.ts › passes every check', (t) =>
    checkMount(t, 'nextjs.ts', { build: buildNext, skipped: [inParallel, 'bytes-two-tokens', 'bytes-upgrade'] }));
  it('sveltekit.ts › passes every check', (t) =>
    checkMount(t, 'sveltekit.ts', { build: buildSvelteKit, skipped: [inParallel, 'bytes-two-tokens'] }));
  it('srvx.ts › passes every check', (t) => checkMount(t, 'srvx.ts', { prefix: '', skipped: [inParallel] }));
  it('bun-and-deno.ts › passes every check under Bun', (t) =>
    checkMount(t, 'bun-and-deno.ts', { prefix: '', runtime: 'bun', skipped: [inParallel] }));
  it('bun-and-deno.ts › passes every check under Deno', (t) =>
    checkMount(t, 'bun-and-deno.ts', { prefix: '', runtime: 'deno' }));
});
