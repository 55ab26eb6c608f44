import { cp, mkdir, mkdtemp, chmod, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Fault } from './fault.ts';

/** The root of the project. */
export const projectRoot: string = fileURLToPath(new URL('../..', import.meta.url));

/** Copied into each workspace. node_modules is a symbolic link. */
const copied = [
  ...['src', 'test', 'examples', 'docs'],
  ...['package.json', 'tsconfig.json', 'tsconfig.build.json'],
  ...['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'LICENSE'],
];

/** A copy of the project in a temporary folder, for one fault at a time. */
export interface Workspace {
  readonly root: string;
  /** The temporary folder of its tests, removed with the workspace even if a test is killed. */
  readonly temporary: string;
}

/** Creates a workspace; {@link removeWorkspace} removes it. */
export async function createWorkspace(): Promise<Workspace> {
  const folder = await mkdtemp(join(tmpdir(), 'plant-store-mutants-'));
  // If root runs the tests, PostgreSQL runs as another user.
  await chmod(folder, 0o755);
  const workspace = { root: join(folder, 'project'), temporary: join(folder, 'tmp') };
  await mkdir(workspace.root);
  await mkdir(workspace.temporary);
  // Every user may write to it, as to /tmp.
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

/** Removes a workspace and the temporary files of its tests. */
export async function removeWorkspace({ root }: Workspace): Promise<void> {
  await rm(join(root, '..'), { recursive: true, force: true, maxRetries: 5 });
}

/** Runs `work` while the sources of the workspace contain the fault. */
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

/** Returns the text of a file with the fault in it. */
export function faultyText({ find, replace }: Fault, text: string): string {
  return text.replace(find, () => replace);
}
