import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../support/sources.ts';
import { run } from './run-to-end.ts';

/** The description of a tarball that `npm pack --json` prints. */
export interface Packed {
  readonly filename: string;
  readonly size: number;
  readonly files: readonly { path: string }[];
}

/** Runs `npm pack` with more flags. Requires `dist`. */
export async function pack(...flags: string[]): Promise<Packed> {
  assert.ok(existsSync(join(root, 'dist/index.js')), 'There is no dist: run `npm run build` first.');
  // Without --ignore-scripts, prepack would replace dist while other tests use it.
  const stdout = await run(root, 'npm', ['pack', '--json', '--ignore-scripts', ...flags]);
  const [packed] = Object.values(JSON.parse(stdout) as Record<string, Packed>);
  assert.ok(packed);
  return packed;
}
