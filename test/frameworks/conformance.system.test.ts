import assert from 'node:assert/strict';
import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { sendByFetch } from '../../src/kits/conformance/send-by-fetch.ts';
import { runChecks } from '../kits/conformance/run-checks.ts';
import { readDocument } from '../support/documents.ts';
import { findProgram } from '../support/installed-program.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { arePackagesInstalled, examples, otherRuntimes, startProgram } from './program.ts';
import type { Runtime } from './program.ts';

/** How a program mounts the service. */
interface Mount {
  /** Default `/garden`. */
  readonly prefix?: string;
  /** Default Node.js. */
  readonly runtime?: Runtime;
  /** Whether the program exports route handlers instead of starting a server; default `false`. */
  readonly isRoute?: boolean;
}

/** Serves a file with route handlers as a framework does. Next.js itself responds to methods that are not exported. */
const serveRoute = `
  import { serve } from 'srvx';
  import * as route from './program.ts';
  const fetch = (request) =>
    route.fallback?.({ request }) ?? route[request.method]?.(request) ?? new Response(null, { status: 405 });
  const server = serve({ fetch, hostname: '127.0.0.1', port: 0, silent: true });
  await server.ready();
  console.log(server.url);
`;

/** Returns the README's program for Express, which serves until it is stopped. */
async function readmeProgram(): Promise<string> {
  const [, program = ''] = /```ts\n([^`]*\napp\.use\(.*?)const headers = /s.exec(await readDocument('README.md')) ?? [];
  return `${program}console.log(\`http://127.0.0.1:\${port}\`);\n`;
}

/** Asserts that a program passes every check. Changes its tokens to those that the checks use. */
async function checkProgram(
  t: TestContext,
  text: string,
  { prefix = '/garden', runtime, isRoute = false }: Mount,
): Promise<void> {
  if (!arePackagesInstalled(t)) return;
  const command = runtime === undefined ? process.execPath : findProgram(t, 'runtimes', runtime.path);
  if (command === undefined) return;
  const changed = text.replace(
    /\(token === \S+ \? \{ user: 'ada' \} : null\)/,
    `({ ada: { user: 'ada' }, bob: { user: 'bob' }, 'ada-reads': { user: 'ada', scopes: ['plants:read'] } }[token] ?? null)`,
  );
  assert.notEqual(changed, text);
  const cwd = await temporaryFolder(t);
  await symlink(join(examples, 'node_modules'), join(cwd, 'node_modules'), 'dir');
  await writeFile(join(cwd, 'package.json'), '{"type":"module"}');
  await writeFile(join(cwd, 'program.ts'), changed);
  await writeFile(join(cwd, 'route.js'), serveRoute);
  const args = [...(runtime?.args ?? []), isRoute ? './route.js' : './program.ts'];
  const { url } = await startProgram(t, command, args, {}, cwd);
  const { results } = await runChecks(sendByFetch(url + prefix), url + prefix);
  const others = results.filter(({ outcome }) => outcome !== 'passed');
  assert.deepEqual(
    others.map(({ check, outcome }) => `${check.id}: ${outcome}`),
    [],
  );
}

const mounts: readonly (readonly [file: string, mount: Mount])[] = [
  ['mount.ts', {}],
  ['frameworks/express.ts', {}],
  ['frameworks/fastify.ts', {}],
  ['frameworks/koa.ts', {}],
  ['frameworks/hono.ts', {}],
  ['frameworks/nextjs.ts', { isRoute: true }],
  ['frameworks/sveltekit.ts', { isRoute: true }],
  ['frameworks/srvx.ts', { prefix: '' }],
  ...otherRuntimes.map((runtime) => ['frameworks/bun-and-deno.ts', { prefix: '', runtime }] as const),
];

describe('conformance', { concurrency: 2 }, () => {
  for (const [file, mount] of mounts) {
    it(`examples/${file} passes every check under ${mount.runtime?.name ?? 'Node.js'}`, async (t) => {
      await checkProgram(t, await readDocument(`examples/${file}`), mount);
    });
  }

  it('the program for Express in the README passes every check', async (t) => {
    await checkProgram(t, await readmeProgram(), {});
  });
});
