import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** An object that registers clean-up code, such as a TestContext of node:test. */
export interface HasAfter {
  after(cleanUp: () => Promise<void> | void): void;
}

/**
 * Registers clean-up code for a program that is not a test. The code runs in reverse order when this object is
 * disposed. Node.js 22 has no AsyncDisposableStack.
 */
export class CleanUp implements HasAfter, AsyncDisposable {
  readonly #work: (() => Promise<void> | void)[] = [];

  after(cleanUp: () => Promise<void> | void): void {
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
