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
 * Installs the packed program as on a server. Requires `dist`. If root runs the tests, the server runs as another user.
 * `state` is the folder with the database and the tokens. It and `backups` belong to the user of the server.
 */
export async function installService(t: HasAfter) {
  const folder = await installPackage(t);
  await chmod(folder, 0o755);
  const bin = join(folder, 'node_modules/.bin');
  // Node.js is copied, because the account might not have access to the original folder.
  await copyFile(process.execPath, join(bin, 'node'));
  const [state, backups] = [join(folder, 'state'), join(folder, 'backups')];
  const account = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined;
  for (const each of [state, backups]) {
    await mkdir(each, { mode: 0o700 });
    if (account !== undefined) await chown(each, account.uid, account.gid);
  }
  const env = {
    PATH: [bin, process.env['PATH'] ?? ''].join(delimiter),
    PLANT_STORE_STORAGE: `sqlite:${state}/plants.db`,
    PLANT_STORE_TOKENS: `${state}/tokens.json`,
    PORT: '0',
  };
  const asService = account === undefined ? [] : ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];
  const run = (program: string, args: string[]): Promise<Finished> => runProgram(program, args, { cwd: '/', env });
  return {
    state,
    backups,
    /** Starts the server. `wrapper` is a command that starts the server, such as strace with its options. */
    start: (wrapper: readonly string[] = []): Promise<ServerProcess> => {
      const serve = ['plant-store', 'serve', '--admin-port', '0', '--trusted-proxies', '1'];
      const [program = '', ...args] = [...wrapper, ...serve];
      const child = spawn(program, args, { cwd: state, env, ...account, stdio: ['ignore', 'pipe', 'pipe'] });
      return untilListening(t, child, /^Plant Store listening on (\S+)\n/m);
    },
    /** Returns the token that the server created on its first start. */
    firstToken: async (): Promise<string> => (await readFile(join(state, 'first-token.txt'), 'utf8')).trim(),
    /** Runs a command until it ends, as the user that runs the tests. */
    run,
    /** Runs a command until it ends, as the user of the server. */
    runAsService: (program: string, args: string[]): Promise<Finished> => {
      const [first = '', ...others] = [...asService, program, ...args];
      return run(first, others);
    },
  };
}

export function create({ url }: ServerProcess, token: string, plant: object): Promise<Answered> {
  return callService(url, 'POST', '/plants', { token, body: JSON.stringify(plant) });
}
