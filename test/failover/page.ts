import assert from 'node:assert/strict';
import { readDocument } from '../support/documents.ts';

/** The files in `deploy/high-availability`, and what the page about PostgreSQL shows. */
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

/** The port numbers on the page. */
export const pagePorts = { proxy: 5000, postgres: 5432, etcdClients: 2379, etcdPeers: 2380, patroni: 8008 } as const;

/** Reads the files and the page. Throws if a statement or the connection string is not on the page. */
export async function readPageConfiguration(): Promise<PageConfiguration> {
  const page = await readDocument('docs/postgresql.md');
  const storage = /DATABASE_URL='(.+)'/.exec(page)?.[1];
  const statements = Array.from(page.matchAll(/^ +(CREATE .+;)$/gm), ([, statement = '']) => statement);
  assert.ok(storage !== undefined && statements.length === 2, 'the page shows a connection string and two statements');
  const read = (name: string): Promise<string> => readDocument(`deploy/high-availability/${name}`);
  const [etcd, patroni, haproxy] = [await read('etcd'), await read('patroni.yml'), await read('haproxy.cfg')];
  return { etcd, patroni, haproxy, statements, storage };
}

/** The values that replace those of the page. */
export interface Replacements {
  readonly name: string;
  readonly address: string;
  readonly ports: ReadonlyMap<number, number>;
  readonly paths: Readonly<Record<string, string>>;
}

/**
 * Replaces the text that depends on the machine. Turns off the watchdog, because this test cannot use one. Removes the
 * HAProxy settings that require root privileges.
 */
export function adapt(text: string, { name, address, ports, paths }: Replacements): string {
  const adapted = text
    .replaceAll('MACHINE', name)
    .replaceAll('ADDRESS', address)
    // Clients of any loopback address connect from 127.0.0.1.
    .replaceAll(/10\.0\.[01]\.0\/24/g, '127.0.0.0/8')
    .replaceAll('10.0.0.', '127.77.0.')
    .replaceAll('mode: required', 'mode: off')
    .replaceAll(/^ +(chroot|user|group) .*\n/gm, '')
    .replaceAll(
      /(:|port )(\d{4})\b/g,
      (_, before: string, port: string) => `${before}${ports.get(Number(port)) ?? port}`,
    );
  return Object.entries(paths).reduce((replaced, [from, to]) => replaced.replaceAll(from, to), adapted);
}
