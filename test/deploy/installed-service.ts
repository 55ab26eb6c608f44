import { spawn } from 'node:child_process';
import { chmod, chown, copyFile, mkdir, readFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { installPackage } from '../package/installed.ts';
import { callService } from '../support/call.ts';
import type { Answered } from '../support/call.ts';
import { runProgram } from '../support/run-program.ts';
import type { Finished } from '../support/run-program.ts';
import { untilListening } from '../support/server-process.ts';
import type { ServerProcess } from '../support/server-process.ts';
import type { HasAfter } from '../support/temporary-folder.ts';

/**
 * The packed program, installed as on a server. If root runs the tests, the server runs as another user, and all other
 * commands run as root.
 */
interface InstalledService {
  /** The folder that contains the database and the tokens. */
  readonly state: string;
  /** Starts the server. `wrapper` is a command that starts the server, such as strace with its options. */
  readonly start: (wrapper?: readonly string[]) => Promise<ServerProcess>;
  /** Returns the token that the server created on its first start. */
  readonly firstToken: () => Promise<string>;
  /** Runs a command until it ends, as the user that runs the tests. */
  readonly run: (program: string, args: string[]) => Promise<Finished>;
}

/** Installs the program. Requires `dist`. */
export async function installService(t: HasAfter): Promise<InstalledService> {
  const folder = await installPackage(t);
  await chmod(folder, 0o755);
  const bin = join(folder, 'node_modules/.bin');
  // Node.js is copied, because the account might not have access to the original folder.
  await copyFile(process.execPath, join(bin, 'node'));
  const state = join(folder, 'state');
  await mkdir(state, { mode: 0o700 });
  const account = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined;
  if (account !== undefined) await chown(state, account.uid, account.gid);
  const env = {
    PATH: [bin, process.env['PATH'] ?? ''].join(delimiter),
    PLANT_STORE_STORAGE: `sqlite:${state}/plants.db`,
    PLANT_STORE_TOKENS: `${state}/tokens.json`,
    PORT: '0',
  };
  return {
    state,
    start: (wrapper = []) => {
      const serve = ['plant-store', 'serve', '--admin-port', '0', '--trusted-proxies', '1'];
      const [program = '', ...args] = [...wrapper, ...serve];
      const child = spawn(program, args, { cwd: state, env, ...account, stdio: ['ignore', 'pipe', 'pipe'] });
      return untilListening(t, child, /^Plant Store listening on (\S+)\n/m);
    },
    firstToken: async () => (await readFile(join(state, 'first-token.txt'), 'utf8')).trim(),
    run: (program, args) => runProgram(program, args, { cwd: '/', env }),
  };
}

/** Creates a plant. */
export function create({ url }: ServerProcess, token: string, plant: object): Promise<Answered> {
  return callService(url, 'POST', '/plants', { token, body: JSON.stringify(plant) });
}
