import { spawnSync } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';

/** The programs of a cluster. Each has the Debian package that contains it and the option that prints its version. */
const requirements = {
  etcd: ['etcd-server', '--version'],
  haproxy: ['haproxy', '-v'],
  patroni: ['patroni', '--version'],
  postgres: ['postgresql', '--version'],
} as const;

/** The absolute paths of the programs. */
export type Programs = Readonly<Record<keyof typeof requirements, string>>;

const names = Object.keys(requirements) as (keyof Programs)[];

/** Finds the programs. If some are missing, returns the names of their Debian packages. */
export function findPrograms(): { programs: Programs } | { missing: string[] } {
  const missing = names.filter((name) => find(name) === undefined).map((name) => requirements[name][0]);
  if (missing.length > 0) return { missing };
  return { programs: Object.fromEntries(names.map((name) => [name, find(name)])) as Programs };
}

/** Returns the version that each program prints, such as `4.1.4`. Throws if a program does not print a version. */
export function findVersions(programs: Programs): Programs {
  const versions = names.map((name) => {
    const { stdout, error } = spawnSync(programs[name], [requirements[name][1]], { encoding: 'utf8' });
    const version = /\d+(\.\d+)+/.exec(stdout)?.[0];
    if (version === undefined) throw new Error(`${programs[name]} prints no version.`, { cause: error });
    return [name, version] as const;
  });
  return Object.fromEntries(versions) as Programs;
}

function find(name: string): string | undefined {
  const byNumber = new Intl.Collator('en', { numeric: true });
  const postgres = globSync('/usr/lib/postgresql/*/bin').sort((one, other) => byNumber.compare(other, one));
  // Debian installs PostgreSQL and HAProxy in folders that are not on most users' PATH.
  const folders = [...postgres, ...(process.env['PATH'] ?? '').split(':'), '/usr/sbin'];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}
