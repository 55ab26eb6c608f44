import { spawn } from 'node:child_process';
import { chmod, chown, copyFile, mkdir, readFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { installPackage } from '../package/installed.ts';
import { finish } from '../support/run-program.ts';
import type { Finished } from '../support/run-program.ts';
import { untilListening } from '../support/server-process.ts';
import type { ServerProcess } from '../support/server-process.ts';
import type { HasAfter } from '../support/temporary-folder.ts';

/** The user and the group of the server if root runs the tests. */
const nobody = { uid: 65_534, gid: 65_534 };

/**
 * The packed program, installed as on a server: if root runs the tests, the server runs as another user, and all other
 * commands run as root.
 */
export class InstalledService {
  /** The folder that contains the database and the tokens. */
  readonly state: string;
  /** The environment of the server and of the other commands. */
  readonly env: Readonly<Record<string, string>>;
  /** The user of the server. Empty if the tests do not run as root. */
  readonly account: { readonly uid?: number; readonly gid?: number };

  private constructor(state: string, bin: string, account: InstalledService['account']) {
    this.state = state;
    this.account = account;
    this.env = {
      PATH: [bin, process.env['PATH'] ?? ''].join(delimiter),
      PLANT_STORE_STORAGE: `sqlite:${state}/plants.db`,
      PLANT_STORE_TOKENS: `${state}/tokens.json`,
      PORT: '0',
    };
  }

  /** Installs the program. Requires `dist`. */
  static async install(t: HasAfter): Promise<InstalledService> {
    const account: InstalledService['account'] = process.getuid?.() === 0 ? nobody : {};
    const folder = await installPackage(t);
    await chmod(folder, 0o755);
    const bin = join(folder, 'node_modules/.bin');
    // A copy, because the account may not have access to the folder of this Node.js.
    await copyFile(process.execPath, join(bin, 'node'));
    const state = join(folder, 'state');
    await mkdir(state, { mode: 0o700 });
    if (account.uid !== undefined && account.gid !== undefined) await chown(state, account.uid, account.gid);
    return new InstalledService(state, bin, account);
  }

  /**
   * Starts the server as the user that the unit names. `wrapper` is a command that starts the server, such as strace
   * with its options.
   */
  start(t: HasAfter, wrapper: readonly string[] = []): Promise<ServerProcess> {
    const serve = ['plant-store', 'serve', '--admin-port', '0', '--trusted-proxies', '1'];
    const [program = '', ...args] = [...wrapper, ...serve];
    const options = { cwd: this.state, env: this.env, ...this.account };
    const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    return untilListening(t, child, /^Plant Store listening on (\S+)\n/m);
  }

  /** Returns the token that the server created at its first start. */
  async firstToken(): Promise<string> {
    return (await readFile(join(this.state, 'first-token.txt'), 'utf8')).trim();
  }

  /** Runs a command as the user of the tests until it ends. */
  run(program: string, args: string[]): Promise<Finished> {
    return finish(spawn(program, args, { cwd: '/', env: this.env, stdio: ['ignore', 'pipe', 'pipe'] }));
  }
}
