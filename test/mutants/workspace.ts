import { cp, mkdir, mkdtemp, chmod, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Fault } from './fault.ts';

/** The root of the project. */
export const projectRoot: string = fileURLToPath(new URL('../..', import.meta.url));

/** What is copied; node_modules is linked. */
const copied = [
  ...['src', 'test', 'examples', 'docs'],
  ...['package.json', 'tsconfig.json', 'tsconfig.build.json'],
  ...['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'LICENSE'],
];

/** A copy of the project in a temporary folder, for one fault at a time. */
export interface Workspace {
  readonly root: string;
  /** Where its tests put their temporary files, so that what a killed test leaves goes with it. */
  readonly temporary: string;
}

/** Makes a workspace; {@link removeWorkspace} takes it away. */
export async function makeWorkspace(): Promise<Workspace> {
  const folder = await mkdtemp(join(tmpdir(), 'plant-store-mutants-'));
  // PostgreSQL runs as another user where root runs the tests.
  await chmod(folder, 0o755);
  const workspace = { root: join(folder, 'project'), temporary: join(folder, 'tmp') };
  await mkdir(workspace.root);
  await mkdir(workspace.temporary);
  // Every user may write there, as in /tmp.
  await chmod(workspace.temporary, 0o1777);
  for (const name of copied) {
    await cp(join(projectRoot, name), join(workspace.root, name), { recursive: true, filter: isSource });
  }
  await symlink(join(projectRoot, 'node_modules'), join(workspace.root, 'node_modules'));
  return workspace;
}

function isSource(path: string): boolean {
  return !path.endsWith('node_modules');
}

/** Removes a workspace and what its tests left. */
export async function removeWorkspace({ root }: Workspace): Promise<void> {
  await rm(join(root, '..'), { recursive: true, force: true, maxRetries: 5 });
}

/** Runs `work` with the fault in the workspace's sources, and takes it out again. */
export async function withFault<T>({ root }: Workspace, fault: Fault, work: () => Promise<T>): Promise<T> {
  const path = join(root, fault.file);
  const text = await readFile(path, 'utf8');
  await writeFile(path, faultyText(fault, text));
  try {
    return await work();
  } finally {
    await writeFile(path, text);
  }
}

/** The text of a file with the fault in it. */
export function faultyText({ find, replace }: Fault, text: string): string {
  return text.replace(find, () => replace);
}
