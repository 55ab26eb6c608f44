import assert from 'node:assert/strict';
import { once } from 'node:events';
import { symlink, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { sendByFetch } from '../../src/kits/conformance/send-by-fetch.ts';
import { runChecks } from '../kits/conformance/run-checks.ts';
import { readDocument } from '../support/documents.ts';
import { findProgram } from '../support/installed-program.ts';
import { listAll } from '../support/model-clients.ts';
import { arePackagesInstalled, createGarden, examples, namesOfGarden, startProgram } from './program.ts';

/** How a program mounts the service. */
interface Mount {
  /** The path under which the service is mounted; default `/garden`. */
  readonly prefix?: string;
  /** A runtime from `test/runtimes`, with the arguments that precede the file; default Node.js. */
  readonly runtime?: { readonly name: string; readonly args: readonly string[] };
  /** Whether the program exports route handlers instead of starting a server; default `false`. */
  readonly isRoute?: boolean;
  /** A path that the app itself serves. */
  readonly ownPath?: string;
}

const deno = ['serve', '--allow-all', '--node-modules-dir=manual', '--host', '127.0.0.1', '--port', '0'];

const mounts: readonly (readonly [file: string, mount: Mount])[] = [
  ['mount.ts', {}],
  ['frameworks/express.ts', { ownPath: '/' }],
  ['frameworks/fastify.ts', { ownPath: '/' }],
  ['frameworks/koa.ts', { ownPath: '/' }],
  ['frameworks/hono.ts', { ownPath: '/' }],
  ['frameworks/nextjs.ts', { isRoute: true }],
  ['frameworks/sveltekit.ts', { isRoute: true }],
  ['frameworks/srvx.ts', { prefix: '' }],
  ['frameworks/bun-and-deno.ts', { prefix: '', runtime: { name: 'bun', args: [] } }],
  ['frameworks/bun-and-deno.ts', { prefix: '', runtime: { name: 'deno', args: deno } }],
];

/**
 * Serves a file with route handlers as a framework does. Like Next.js, it responds to methods for which the file
 * exports no handler.
 */
const serveRoute = `
  import { serve } from 'srvx';
  import * as route from './program.ts';
  const fetch = (request) =>
    route.fallback?.({ request }) ?? route[request.method]?.(request) ?? new Response(null, { status: 405 });
  const server = serve({ fetch, hostname: '127.0.0.1', port: 0, silent: true });
  await server.ready();
  console.log(server.url);
`;

/** The users of the checks, and a user with a long list. */
const callers = `({
  ada: { user: 'ada' },
  bob: { user: 'bob' },
  'ada-reads': { user: 'ada', scopes: ['plants:read'] },
  collector: { user: 'collector' },
}[token] ?? null)`;

/**
 * Replaces the tokens of a program, and asserts that the program passes every check and survives clients that
 * disconnect.
 */
async function checkProgram(t: TestContext, text: string, mount: Mount): Promise<void> {
  const { prefix = '/garden', runtime, isRoute = false, ownPath } = mount;
  if (!arePackagesInstalled(t)) return;
  const command = runtime === undefined ? process.execPath : findProgram(t, 'runtimes', `.bin/${runtime.name}`);
  if (command === undefined) return;
  const changed = text.replace(/\(token === \S+ \? \{ user: 'ada' \} : null\)/, callers);
  assert.notEqual(changed, text);
  const cwd = await createGarden(t, 'collector');
  await symlink(join(examples, 'node_modules'), join(cwd, 'node_modules'), 'dir');
  await writeFile(join(cwd, 'package.json'), '{"type":"module"}');
  await writeFile(join(cwd, 'program.ts'), changed);
  await writeFile(join(cwd, 'route.js'), serveRoute);
  const args = [...(runtime?.args ?? []), isRoute ? './route.js' : './program.ts'];
  const { url, stdout, stderr, isRunning } = await startProgram(t, command, args, { cwd });
  const { results } = await runChecks(sendByFetch(url + prefix), url + prefix);
  const others = results.filter(({ outcome }) => outcome !== 'passed');
  assert.deepEqual(
    others.map(({ check, outcome }) => `${check.id}: ${outcome}`),
    [],
  );
  if (ownPath !== undefined) assert.equal(await (await fetch(url + ownPath)).text(), 'the app itself');
  // Only programs that store plants in `plants.db` have the long list.
  if (text.includes('plants.db')) await checkDisconnects(url + prefix, 'collector');
  const output = stdout() + stderr();
  assert.ok(isRunning(), output);
  assert.doesNotMatch(output, /unhandled|uncaught|failed:|[a-z]Error\b/i);
}

/** Sends a partial or complete request, and disconnects after `afterBytes` bytes of the response. */
async function disconnect(base: URL, request: string, afterBytes: number, isReset: boolean): Promise<void> {
  const socket = connect(Number(base.port), base.hostname).on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(request);
  if (afterBytes === 0) await sleep(20);
  while (socket.bytesRead < afterBytes) await once(socket, 'data', { signal: AbortSignal.timeout(10_000) });
  assert.ok(!socket.destroyed, 'The server disconnected.');
  const closed = once(socket, 'close');
  if (isReset) socket.resetAndDestroy();
  else socket.destroy();
  await closed;
}

/**
 * Disconnects while sending bodies and while receiving long lists, and then asserts that the whole list can be read.
 */
async function checkDisconnects(base: string, token: string): Promise<void> {
  const url = new URL(base);
  const path = `${url.pathname.replace(/\/$/, '')}/plants`;
  const head = `Host: ${url.host}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n`;
  const post = `POST ${path} HTTP/1.1\r\n${head}`;
  for (const isReset of [false, true]) {
    await disconnect(url, `${post}Content-Length: 100\r\n\r\n{"id":5,`, 0, isReset);
    await disconnect(url, `${post}Transfer-Encoding: chunked\r\n\r\n5\r\n{"id"\r\n`, 0, isReset);
    await disconnect(url, `GET ${path} HTTP/1.1\r\n${head}\r\n`, 1, isReset);
    await disconnect(url, `GET ${path} HTTP/1.1\r\n${head}\r\n`, 300_000, isReset);
    await disconnect(url, `GET ${path}?limit=2500 HTTP/1.1\r\n${head}\r\n`, 100_000, isReset);
  }
  const listed = (await listAll(base, token)).map(({ name }) => name);
  assert.deepEqual(listed, namesOfGarden);
}

describe('conformance', { concurrency: 2 }, () => {
  for (const [file, mount] of mounts) {
    it(`examples/${file} passes every check under ${mount.runtime?.name ?? 'Node.js'}`, async (t) => {
      await checkProgram(t, await readDocument(`examples/${file}`), mount);
    });
  }
});
