import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { Programs } from './requirements.ts';

/** The versions that the programs print, such as `4.1.4`. */
export type Versions = Readonly<Record<keyof Programs, string>>;

/** Runs each program with its version flag. Throws if a program does not print a version. */
export function findVersions({ etcd, haproxy, patroni, postgres }: Programs): Versions {
  return {
    etcd: versionOf(etcd, '--version'),
    haproxy: versionOf(haproxy, '-v'),
    patroni: versionOf(patroni, '--version'),
    postgres: versionOf(join(postgres, 'postgres'), '--version'),
  };
}

/** Returns whether a version such as `4.1.4` is the same as another one or newer. Missing numbers count as 0. */
export function isAtLeast(version: string, oldest: string): boolean {
  const [numbers, oldestNumbers] = [version, oldest].map((text) => text.split('.').map(Number));
  for (let n = 0; n < 3; n++) {
    const difference = (numbers?.[n] ?? 0) - (oldestNumbers?.[n] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}

function versionOf(command: string, flag: string): string {
  const { stdout, error } = spawnSync(command, [flag], { encoding: 'utf8' });
  const version = /\d+(\.\d+)+/.exec(stdout)?.[0];
  if (version === undefined) throw new Error(`${command} ${flag} prints no version.`, { cause: error });
  return version;
}
