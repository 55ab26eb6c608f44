import assert from 'node:assert/strict';
import { readDocument } from '../support/documents.ts';

/** The files in `deploy/high-availability`, and the statements that `docs/postgresql.md` shows. */
export interface PageConfiguration {
  /** Lines such as `ETCD_NAME=MACHINE`. */
  readonly etcd: string;
  readonly patroni: string;
  readonly haproxy: string;
  /** The SQL statements that create the role and the database. */
  readonly statements: readonly string[];
  /** The connection string of the servers. */
  readonly storage: string;
}

/** The values that replace the page's names, addresses, ports and paths on one machine of the test cluster. */
export interface Replacements {
  readonly name: string;
  readonly address: string;
  /** The port that replaces each port number of the page. */
  readonly ports: ReadonlyMap<number, number>;
  /** The path that replaces each path of the page. */
  readonly paths: ReadonlyMap<string, string>;
}

/** The port numbers on the page. */
export const pagePorts = { proxy: 5000, postgres: 5432, etcdClients: 2379, etcdPeers: 2380, patroni: 8008 } as const;

/** The database machines, with their names on the page and the addresses that replace those on the page. */
export const machines: readonly { readonly name: string; readonly address: string }[] = [
  { name: 'pg1', address: '127.77.0.11' },
  { name: 'pg2', address: '127.77.0.12' },
  { name: 'pg3', address: '127.77.0.13' },
];

/** Reads the files and the page. Throws if a statement or the connection string is not on the page. */
export async function readPageConfiguration(): Promise<PageConfiguration> {
  const page = await readDocument('docs/postgresql.md');
  const storage = /DATABASE_URL='(.+)'/.exec(page)?.[1];
  const statements = Array.from(page.matchAll(/^ +(CREATE .+;)$/gm), ([, statement = '']) => statement);
  if (storage === undefined || statements.length !== 2) {
    throw new Error('The page must show the connection string and two statements.');
  }
  const [etcd, patroni, haproxy] = await Promise.all(
    ['etcd', 'patroni.yml', 'haproxy.cfg'].map((name) => readDocument(`deploy/high-availability/${name}`)),
  );
  assert.ok(etcd && patroni && haproxy);
  return { etcd, patroni, haproxy, statements, storage };
}

/**
 * Replaces the text that depends on the machine: names, addresses, ports and paths. Turns off the watchdog, because
 * this test cannot use one. Removes the HAProxy settings that require root privileges.
 */
export function adapt(text: string, { name, address, ports, paths }: Replacements): string {
  let adapted = text
    .replaceAll('MACHINE', name)
    .replaceAll('ADDRESS', address)
    // Clients of any loopback address connect from 127.0.0.1.
    .replaceAll(/10\.0\.[01]\.0\/24/g, '127.0.0.0/8')
    .replaceAll('10.0.0.', '127.77.0.')
    .replaceAll('mode: required', 'mode: off')
    .replaceAll(/^ +(chroot|user|group) .*\n/gm, '');
  for (const [from, to] of paths) adapted = adapted.replaceAll(from, to);
  return adapted.replace(/(:|port )(\d{4})\b/g, (all, before: string, port: string) => {
    const other = ports.get(Number(port));
    return other === undefined ? all : `${before}${other}`;
  });
}
