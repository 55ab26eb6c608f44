import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { untilListening } from '../support/server-process.ts';
import { root } from '../support/sources.ts';
import type { HasAfter } from '../support/temporary-folder.ts';

/**
 * Starts `plant-store serve` of the built package for a connection string, with the tokens file `tokens.json` in a
 * folder, and its log in the same folder. Returns the URL.
 */
export async function startServer(t: HasAfter, folder: string, storage: string, log: string): Promise<string> {
  const output = openSync(join(folder, log), 'a');
  const main = join(root, 'dist/tools/cli/main.js');
  const args = [main, 'serve', '--port', '0', '--tokens', 'tokens.json', '--log', 'json'];
  // The connection string is in the environment, because every user can list the arguments of a process.
  const child = spawn(process.execPath, args, {
    cwd: folder,
    stdio: ['ignore', 'pipe', output],
    env: { ...process.env, PLANT_STORE_STORAGE: storage },
  });
  closeSync(output);
  process.once('exit', () => child.kill('SIGKILL'));
  return (await untilListening(t, child, /^Plant Store listening on (\S+)\n/m)).url;
}
