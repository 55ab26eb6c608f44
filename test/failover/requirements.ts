import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The programs of a cluster, as absolute paths. */
export interface Programs {
  readonly etcd: string;
  readonly haproxy: string;
  readonly patroni: string;
  /** The folder of PostgreSQL's programs, such as `/usr/lib/postgresql/15/bin`. */
  readonly postgres: string;
}

/** The Debian packages that contain the programs. */
const packages = {
  etcd: 'etcd-server',
  haproxy: 'haproxy',
  patroni: 'patroni',
  postgres: 'postgresql',
} as const satisfies Record<keyof Programs, string>;

const postgresFolder = '/usr/lib/postgresql';

/** Finds the programs. Returns the names of the Debian packages that are missing, if there are any. */
export function findPrograms(): { programs: Programs } | { missing: string[] } {
  const { etcd, haproxy, patroni } = { etcd: find('etcd'), haproxy: find('haproxy'), patroni: find('patroni') };
  const postgres = findPostgres();
  if (etcd !== undefined && haproxy !== undefined && patroni !== undefined && postgres !== undefined) {
    return { programs: { etcd, haproxy, patroni, postgres } };
  }
  const isMissing = { etcd: !etcd, haproxy: !haproxy, patroni: !patroni, postgres: !postgres };
  const names = Object.keys(packages) as (keyof Programs)[];
  return { missing: names.filter((name) => isMissing[name]).map((name) => packages[name]) };
}

function find(name: string): string | undefined {
  // Debian installs haproxy in a folder that is not on the PATH of most users.
  const folders = [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin'];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/** Returns the programs of the newest PostgreSQL. */
function findPostgres(): string | undefined {
  const versions = existsSync(postgresFolder) ? readdirSync(postgresFolder) : [];
  const folders = versions
    .sort((one, other) => Number(other) - Number(one))
    .map((version) => join(postgresFolder, version, 'bin'));
  return folders.find((folder) => existsSync(join(folder, 'initdb')));
}
