import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { TestContext } from 'node:test';
import { MemoryStorage, PlantStore } from '../../src/index.ts';
import { copyPlants } from '../../src/index.ts';
import { SqliteStorage } from '../../src/sqlite.ts';
import { root } from '../support/sources.ts';
import { plainEnvironment } from '../support/run-program.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { nameOf, plantCount } from './check-service.ts';

/** The folder of the examples. */
export const examples: string = fileURLToPath(new URL('../../examples/frameworks', import.meta.url));

/** The runtimes besides Node.js that serve an example, with their arguments before the file. */
export const otherRuntimes: readonly Runtime[] = [
  { name: 'Bun', path: '.bin/bun', args: [] },
  {
    name: 'Deno',
    path: '.bin/deno',
    args: ['serve', '--allow-all', '--node-modules-dir=manual', '--host', '127.0.0.1', '--port', '0'],
  },
];

/** A runtime that `test/runtimes` installs at `path`. */
export interface Runtime {
  readonly name: string;
  readonly path: string;
  readonly args: readonly string[];
}

/**
 * Returns whether the packages of the examples are installed, and makes `plant-store` one of them. If they are not, the
 * test is skipped with a message.
 */
export function arePackagesInstalled(t: TestContext): boolean {
  const packages = join(examples, 'node_modules');
  if (!existsSync(join(packages, 'hono'))) {
    t.skip('`npm ci --prefix examples/frameworks` installs what this test needs');
    return false;
  }
  const link = join(packages, 'plant-store');
  if (!existsSync(link)) symlinkSync(root, link, 'dir');
  assert.ok(existsSync(join(root, 'dist/fetch.js')), 'There is no dist: run `npm run build` first.');
  return true;
}

/** Creates a folder with a `plants.db` in which ada has {@link plantCount} plants. */
export async function createGarden(t: TestContext): Promise<string> {
  const folder = await temporaryFolder(t);
  const memory = new MemoryStorage();
  const store = new PlantStore({ storage: memory });
  await Promise.all(
    Array.from({ length: plantCount }, (_, n) => store.createPlant('ada', { id: 1000 + n, name: nameOf(1000 + n) })),
  );
  const file = new SqliteStorage(join(folder, 'plants.db'));
  await copyPlants(memory, file);
  await Promise.all([store.close(), file.close()]);
  return folder;
}

/** A running program. */
export interface Running {
  readonly url: string;
  /** Everything that it has written to standard output and standard error. */
  readonly output: () => string;
  readonly isAlive: () => boolean;
}

/**
 * Starts a program that serves the `plants.db` in `cwd`, and waits until it prints its URL or port. It is stopped after
 * the test. By default, `cwd` is a new garden.
 */
export async function startProgram(
  t: TestContext,
  command: string,
  args: string[],
  env: Record<string, string> = {},
  cwd?: string,
): Promise<Running> {
  const child = spawn(command, args, {
    cwd: cwd ?? (await createGarden(t)),
    env: { ...plainEnvironment(), NODE_V8_COVERAGE: '', PORT: '0', ADAS_TOKEN: 'secret', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.after(() => {
    child.kill('SIGKILL');
  });
  let output = '';
  const port = await new Promise<string>((resolve, reject) => {
    const onText = (text: string): void => {
      output += text;
      const found = /http:\/\/(?:127\.0\.0\.1|localhost):(\d+)|port: (\d+)/.exec(output);
      if (found !== null) resolve(found[1] ?? found[2] ?? '');
    };
    child.stdout.setEncoding('utf8').on('data', onText);
    child.stderr.setEncoding('utf8').on('data', onText);
    child.once('exit', () => {
      reject(new Error(`${command} ${args.join(' ')} ended:\n${output}`));
    });
  });
  return {
    url: `http://127.0.0.1:${port}`,
    output: () => output,
    isAlive: () => child.exitCode === null && child.signalCode === null,
  };
}
