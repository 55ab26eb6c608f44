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

/** An app that serves an example. The paths are relative to the folder of the app. */
interface App {
  /** The folder whose packages the app uses. */
  readonly packages: string;
  /** The file that contains the example. */
  readonly route: string;
  readonly files?: Readonly<Record<string, string>>;
  /** The Node.js arguments that build the app. */
  readonly build?: readonly string[];
  /** The arguments that serve the app on `process.env.PORT`. */
  readonly serve: readonly string[];
}

const program: App = { packages: examples, route: 'program.ts', serve: ['./program.ts'] };

const svelteKit: App = {
  packages: apps,
  route: 'src/routes/garden/[...path]/+server.ts',
  files: {
    'src/app.html': '%sveltekit.head%%sveltekit.body%',
    'vite.config.js': `
      import adapter from '@sveltejs/adapter-node';
      import { sveltekit } from '@sveltejs/kit/vite';
      export default { plugins: [sveltekit({ adapter: adapter(), csrf: { trustedOrigins: ['*'] } })] };
    `,
  },
  build: [join(apps, 'node_modules/vite/bin/vite.js'), 'build'],
  serve: ['build'],
};

const next = join(apps, 'node_modules/next/dist/bin/next');
const nextJs: App = {
  packages: apps,
  // With TypeScript, Next.js would install packages.
  route: 'app/garden/[[...path]]/route.js',
  // The default root is the folder of the app, but its node_modules is a link to another folder.
  files: { 'next.config.js': "export default { skipTrailingSlashRedirect: true, turbopack: { root: '/' } };" },
  build: [next, 'build'],
  serve: [next, 'start', '--hostname', '127.0.0.1', '--port', '0'],
};

const runtimes = join(root, 'test/runtimes/node_modules/.bin');
const node = [process.execPath];
const bun = [join(runtimes, 'bun')];
const denoFlags = ['--allow-all', '--node-modules-dir=manual', '--host', '127.0.0.1', '--port', '0'];
const deno = [join(runtimes, 'deno'), 'serve', ...denoFlags];

/** A conformance check that fails because most servers of the Fetch API process pipelined requests in parallel. */
const inParallel = 'bytes-pipelining';

const callers = `({
  'token-of-ada': { user: 'ada' },
  'token-of-adam': { user: 'adam' },
  'read-only-token': { user: 'ada', scopes: ['plants:read'] },
  collector: { user: 'collector' },
}[token] ?? null)`;

/** Disconnects after the first part of a request, and after the first part of a list. */
async function disconnect(url: string, headers: Record<string, string>): Promise<void> {
  const sent = request(url, { method: 'POST', headers }).on('error', () => undefined);
  sent.write('{"id":5,');
  await sleep(50);
  sent.destroy();
  const abort = new AbortController();
  const { body } = await fetch(url, { headers, signal: abort.signal });
  await body?.getReader().read();
  abort.abort();
}

/** Returns an example that accepts the tokens of `callers`. */
async function readExample(file: string): Promise<string> {
  const text = await readDocument(`examples/frameworks/${file}`);
  const changed = text.replace(/\(token === \S+ \? \{ user: 'ada' \} : null\)/, callers);
  assert.notEqual(changed, text);
  return file === 'nextjs.ts' ? stripTypeScriptTypes(changed) : changed;
}

/** Checks that an example passes every conformance check except `skipped`, and responds after clients disconnected. */
async function checkMount(
  t: TestContext,
  file: string,
  { prefix = '/garden', runtime = node, app = program, skipped = [] as string[] } = {},
): Promise<void> {
  const cwd = await temporaryFolder(t);
  const text = await readExample(file);
  const files = { 'package.json': '{"type":"module"}', ...app.files, [app.route]: text };
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(cwd, path)), { recursive: true });
    await writeFile(join(cwd, path), content);
  }
  await symlink(join(app.packages, 'node_modules'), join(cwd, 'node_modules'), 'dir');
  if (app.build !== undefined) {
    const env = { ...plainEnvironment(), NODE_V8_COVERAGE: '', NEXT_TELEMETRY_DISABLED: '1' };
    await runSuccessfully(process.execPath, [...app.build], { cwd, env, timeoutMs: 540_000 });
    assert.ok(!existsSync(join(cwd, 'plants.db')), 'The build opened the database.');
  }
  const command = [...runtime, ...app.serve];
  const { url, stdout, stderr, isRunning, stop } = await startProgram(t, command, cwd, { HOST: '127.0.0.1' });

  const tokens = { a: 'token-of-ada', b: 'token-of-adam', readOnly: 'read-only-token' };
  await assertConforms(url + prefix, tokens, { skipped });
  if (text.includes('the app itself')) assert.equal(await (await fetch(url)).text(), 'the app itself');

  await createAll(join(cwd, 'plants.db'), rowOfPlants('collector', 3000, 'x'.repeat(1000)));
  const plants = `${url}${prefix}/plants`;
  const headers = { authorization: 'Bearer collector', 'content-type': 'application/json' };
  await disconnect(plants, headers);
  const list = await fetch(plants, { headers });
  assert.equal(((await list.json()) as unknown[]).length, 3000);
  assert.ok(isRunning());
  if (text.includes('drainServer')) assert.equal(await stop(), 0);
  assert.doesNotMatch(stdout() + stderr(), /unhandled|uncaught|failed:|[a-z]Error\b/i);
}

const skip = addPlantStore(examples) || addPlantStore(apps) || skipWithout('test/runtimes');

describe('examples of web frameworks', { concurrency: 2, skip }, () => {
  it('express.ts › passes the conformance checks', (t) => checkMount(t, 'express.ts'));
  it('fastify.ts › passes the conformance checks', (t) => checkMount(t, 'fastify.ts'));
  it('koa.ts › passes the conformance checks', (t) => checkMount(t, 'koa.ts'));
  it('hono.ts › passes the conformance checks that apply', (t) => checkMount(t, 'hono.ts', { skipped: [inParallel] }));
  it('nextjs.ts › passes the conformance checks that apply', (t) =>
    checkMount(t, 'nextjs.ts', { app: nextJs, skipped: [inParallel, 'bytes-two-tokens', 'bytes-upgrade'] }));
  it('sveltekit.ts › passes the conformance checks that apply', (t) =>
    checkMount(t, 'sveltekit.ts', { app: svelteKit, skipped: [inParallel, 'bytes-two-tokens'] }));
  it('srvx.ts › passes the conformance checks that apply', (t) =>
    checkMount(t, 'srvx.ts', { prefix: '', skipped: [inParallel] }));
  it('bun-and-deno.ts › passes the conformance checks that apply under Bun', (t) =>
    checkMount(t, 'bun-and-deno.ts', { prefix: '', runtime: bun, skipped: [inParallel] }));
  it('bun-and-deno.ts › passes the conformance checks under Deno', (t) =>
    checkMount(t, 'bun-and-deno.ts', { prefix: '', runtime: deno }));
});
