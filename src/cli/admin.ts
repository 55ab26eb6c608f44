import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import { setTimeout } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';
import { asStorageError } from '../core/model/errors.ts';
import type { StorageAdapter } from '../core/storage-adapter.ts';
import { enableEviction } from '../http/node/connections.ts';
import type { TokenGrants } from '../tokens/grants.ts';
import type { Log } from './log.ts';
import { collectMetrics } from './metrics.ts';
import { describeError, printable } from './print.ts';

/** The media type of the Prometheus text format. The other plain-text responses use it, too. */
const mediaType = 'text/plain; version=0.0.4; charset=utf-8';

/** The public port leaves file descriptors free for these connections, even if it has reached its connection limit. */
const maxConnections = 32;

/** Stalled clients do not block the admin port: when all connections are open, the oldest silent one is evicted. */
export function createAdminServer(
  publicServer: Server,
  readiness: Readiness,
  grants: Pick<TokenGrants, 'problem' | 'refusesAll'>,
): Server {
  const formatMetrics = collectMetrics(publicServer);

  async function page({ url = '' }: IncomingMessage): Promise<[status: number, text: string]> {
    const path = url.replace(/\?.*/s, '');
    if (!['/live', '/ready', '/metrics'].includes(path)) {
      return [path === '/' ? 200 : 404, 'The pages are /live, /ready and /metrics.\n'];
    }
    if (path === '/live') return [200, 'ok\n'];
    if (path === '/ready' && grants.refusesAll) return [503, `${grants.problem}\n`];
    const problem = await readiness.storageProblem();
    if (path === '/metrics') return [200, formatMetrics({ storage: problem === '', tokens: grants.problem === '' })];
    if (problem !== '') return [503, `The storage does not work: ${problem}\n`];
    return readiness.isServing ? [200, 'ok\n'] : [503, 'The server is starting or stopping.\n'];
  }

  const server = createServer((request, response) => {
    void page(request).then(([status, text]) => {
      // Idle keep-alive connections would reach the limit.
      response.writeHead(status, { 'Content-Type': mediaType, Connection: 'close' }).end(text);
    });
  });
  enableEviction(server);
  return Object.assign(server, { maxConnections });
}

/** How long a caller waits for a check, and how long its result is reused. */
const checkMs = 1000;

/** Checks on request, at most once a second, whether the storage can be read and written. */
export class Readiness {
  readonly #storage: StorageAdapter;
  readonly #log: Log;
  /** No plant belongs to this user, so the commit of a check changes nothing. */
  readonly #user = randomUUID();
  /** The latest check. At most one check runs at a time, so that checks do not accumulate if the storage hangs. */
  #latest: Promise<string> | undefined;
  #problem = '';
  /** Why the latest check failed; `undefined` if it succeeded. */
  failure: unknown;
  /** While the server starts or stops, the storage's problems are not logged. */
  isServing = false;

  constructor(storage: StorageAdapter, log: Log) {
    this.#storage = storage;
    this.#log = log;
  }

  /**
   * Returns why the storage does not work, on one line, or '' if it works. The storage must respond within a second.
   * Logs the first of several consecutive failures, and the recovery.
   */
  async storageProblem(): Promise<string> {
    this.#latest ??= this.#check();
    return Promise.race([this.#latest, sleep(checkMs, 'It did not respond within a second.', { ref: false })]);
  }

  async #check(): Promise<string> {
    const before = this.#problem;
    this.#problem = '';
    this.failure = undefined;
    try {
      await this.#storage.list(this.#user, { after: undefined, limit: 1 });
      // Unlike `list`, a commit fails if the file is read-only or if the write permission is missing. This commit can
      // overlap a commit of the store, but not another check.
      await this.#storage.commit([{ kind: 'delete', user: this.#user, id: 0n }]);
      if (before !== '' && this.isServing) this.#log.info('The storage works again.');
    } catch (error) {
      const failure = asStorageError(error);
      this.failure = failure;
      this.#problem = printable(describeError(failure));
      if (before === '' && this.isServing) this.#log.error('The storage does not work', failure);
    }
    setTimeout(() => (this.#latest = undefined), checkMs).unref();
    return this.#problem;
  }
}
