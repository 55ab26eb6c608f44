import { spawnSync } from 'node:child_process';
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
  const [etcd, haproxy, patroni, postgres] = [find('etcd'), find('haproxy'), find('patroni'), findPostgres()];
  if (etcd !== undefined && haproxy !== undefined && patroni !== undefined && postgres !== undefined) {
    return { programs: { etcd, haproxy, patroni, postgres } };
  }
  const found = { etcd, haproxy, patroni, postgres };
  const names = Object.keys(packages) as (keyof Programs)[];
  return { missing: names.filter((name) => found[name] === undefined).map((name) => packages[name]) };
}

/** Returns the versions that the programs print, such as `4.1.4`. Throws if a program does not print a version. */
export function findVersions({ etcd, haproxy, patroni, postgres }: Programs): Readonly<Record<keyof Programs, string>> {
  return {
    etcd: versionOf(etcd, '--version'),
    haproxy: versionOf(haproxy, '-v'),
    patroni: versionOf(patroni, '--version'),
    postgres: versionOf(join(postgres, 'postgres'), '--version'),
  };
}

function versionOf(command: string, flag: string): string {
  const { stdout, error } = spawnSync(command, [flag], { encoding: 'utf8' });
  const version = /\d+(\.\d+)+/.exec(stdout)?.[0];
  if (version === undefined) throw new Error(`${command} ${flag} prints no version.`, { cause: error });
  return version;
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
