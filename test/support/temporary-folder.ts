import { chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** An object that registers clean-up code, such as a TestContext of node:test. */
export interface HasAfter {
  after(cleanUp: () => unknown): void;
}

/**
 * Registers clean-up code for a program that is not a test. The code runs in reverse order when this object is
 * disposed. Node.js 22 has no AsyncDisposableStack.
 */
export class CleanUp implements HasAfter, AsyncDisposable {
  readonly #work: (() => unknown)[] = [];

  after(cleanUp: () => unknown): void {
    this.#work.push(cleanUp);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const last = this.#work.pop();
    if (last === undefined) return;
    try {
      await last();
    } finally {
      await this[Symbol.asyncDispose]();
    }
  }
}

/** Creates a folder that is removed after the test. */
export async function temporaryFolder(t: HasAfter): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'plant-store-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

const nobody = 65_534;
/** The account that runs programs such as PostgreSQL. If root runs the tests, it is `nobody`. */
export const owner: { uid?: number; gid?: number } = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {};

/** Creates a folder that `owner` can write to. `prefix` is the start of its path. */
export async function ownedFolder(prefix: string = join(tmpdir(), 'plant-store-')): Promise<string> {
  const folder = await mkdtemp(prefix);
  if (owner.uid !== undefined && owner.gid !== undefined) await chown(folder, owner.uid, owner.gid);
  return folder;
}
