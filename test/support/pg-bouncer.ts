import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from './listen.ts';
import { ownedFolder, spawnAsOwner, writeOwnedFile } from './postgres-binaries.ts';
import type { PostgresCluster } from './postgres.ts';
import { untilListening } from './server-process.ts';
import type { HasAfter } from './temporary-folder.ts';

const program = '/usr/sbin/pgbouncer';

/** Whether PgBouncer is installed. `.ci/run` installs it. */
export const hasPgBouncer: boolean = existsSync(program);

/**
 * Starts PgBouncer in transaction mode for the databases of a PostgreSQL server: each transaction of a client might use
 * a different connection. Returns a function that changes a connection string to use the pooler.
 */
export async function startPgBouncer(t: HasAfter, cluster: PostgresCluster): Promise<(url: string) => string> {
  const folder = await ownedFolder();
  t.after(() => rm(folder, { recursive: true, force: true }));
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
  await untilListening(t, spawnAsOwner(program, [settings]), /listening on 127\.0\.0\.1:(\d+)/);
  return (url) => url.replace(`:${cluster.port}`, `:${port}`);
}
