import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from './eventually.ts';
import { freePort } from './listen.ts';
import { ownedFolder, spawnAsOwner, writeOwnedFile } from './postgres-binaries.ts';
import type { PostgresCluster } from './postgres.ts';

const program = '/usr/sbin/pgbouncer';

/** Whether PgBouncer is installed. `.ci/run` installs it. */
export const hasPgBouncer: boolean = existsSync(program);

/**
 * A connection pooler in transaction mode. Each transaction of a client might use a different connection to the
 * database.
 */
export interface PgBouncer {
  /** Returns a connection string for the same database through the pooler. */
  through(url: string): string;
  stop(): Promise<void>;
}

/** Starts PgBouncer for the databases of a PostgreSQL server. */
export async function startPgBouncer(cluster: PostgresCluster): Promise<PgBouncer> {
  const folder = await ownedFolder();
  const port = await freePort();
  const [settings, users] = [join(folder, 'pgbouncer.ini'), join(folder, 'users.txt')];
  await writeOwnedFile(users, '"postgres" "sesame"\n');
  await writeOwnedFile(
    settings,
    `[databases]
* = host=127.0.0.1 port=${cluster.port}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = transaction
default_pool_size = 5
`,
  );
  const child = spawnAsOwner(program, [settings]);
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (log += chunk));
  const exited = once(child, 'exit');
  const quit = (): void => void child.kill('SIGKILL');
  process.once('exit', quit);
  child.once('exit', () => process.off('exit', quit));
  await eventually(() => {
    if (!log.includes('process up')) throw new Error(`pgbouncer has not started: ${log}`);
  }, 10_000);
  return {
    through: (url) => url.replace(`:${cluster.port}`, `:${port}`),
    stop: async () => {
      child.kill('SIGKILL');
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
