import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** What a test's clean-up hangs on: a TestContext of node:test. */
export interface HasAfter {
  after(cleanUp: () => Promise<void> | void): void;
}

/** A folder of its own for a test, gone after it. */
export async function temporaryFolder(t: HasAfter): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'plant-store-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
