import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { setInterval } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';
import { PlantStore } from '../../core/plant-store.ts';
import { hasFile } from '../../files/file.ts';
import { parseCorsOrigin } from '../../http/cors.ts';
import { createRequestListener } from '../../http/node/listener.ts';
import { createServerFor, drainServer } from '../../http/node/server.ts';
import { checkBasePath } from '../../http/options.ts';
import { TokenGrants } from '../../tokens/grants.ts';
import { createAdminServer } from '../admin/admin.ts';
import { Readiness } from '../admin/readiness.ts';
import { UsageError, withUsageError } from '../command-line.ts';
import type { Settings } from '../command-line.ts';
import { commit } from '../commit.ts';
import { createDocs } from '../docs.ts';
import { createFirstToken, describeFirstToken } from '../first-token.ts';
import { runInterruptibly } from '../interruption.ts';
import { listen, reachableUrl } from '../listen.ts';
import type { Address } from '../listen.ts';
import { Log, logEvents } from '../output/log.ts';
import { Output } from '../output/output.ts';
import { formatCount } from '../output/text.ts';
import { version } from '../package.ts';
import { refuseRoot } from '../refuse-root.ts';
import { filesOf, openStorage, parseStorage } from '../storage.ts';

/** A tokens file that was removed or became invalid is reported even if no request arrives. */
const checkTokensMs = 1000;

/** How long the store may take to close after the last request. */
const exitGraceMs = 1000;

/** @throws {UsageError} if a setting is invalid. */
function parse(settings: Settings<'serve'>) {
  const { host, port, docs, 'base-path': path, 'cors-origin': corsOrigin } = settings;
  const basePath = path.value ?? '';
  withUsageError(path.source, () => {
    checkBasePath(basePath);
  });
  const origins = corsOrigin.value?.split(',').map((origin) => origin.trim()) ?? [];
  return {
    address: { host: host.value, port: port.value, flags: '--port or --host' },
    storage: parseStorage(settings.storage, ['sqlite', 'postgres', 'memory']),
    tokens: resolve(settings.tokens.value),
    basePath,
    corsOrigin: withUsageError(corsOrigin.source, () => parseCorsOrigin(origins)),
    trustedProxies: settings['trusted-proxies'].value,
    drainDelayMs: settings['drain-delay'].value * 1000,
    admin: adminAddress(settings),
    log: {
      format: settings.log.value ?? (process.stderr.isTTY ? 'pretty' : 'json'),
      level: settings['log-level'].value,
    },
    /** The flag or variable that enables the web page; `undefined` if the page is disabled. */
    docs: docs.value ? docs.source : undefined,
  };
}

type Config = ReturnType<typeof parse>;

function adminAddress({ 'admin-port': port, 'admin-host': host }: Settings<'serve'>): Address | undefined {
  if (port.value === undefined && host.value !== undefined) throw new UsageError(`${host.source} needs --admin-port.`);
  if (port.value === undefined) return undefined;
  return { host: host.value ?? '127.0.0.1', port: port.value, flags: '--admin-port or --admin-host' };
}

export async function run(settings: Settings<'serve'>): Promise<number> {
  const config = parse(settings);
  const { storage: location, tokens, basePath, corsOrigin, trustedProxies } = config;
  refuseRoot(tokens, ...filesOf(location));
  // By default, this signal opens the debugger of Node.js. Log rotation scripts for nginx send it.
  process.on('SIGUSR1', () => undefined);
  const log = new Log(config.log);
  const addDocs = config.docs === undefined ? undefined : createDocs(config.docs, basePath);
  const isFirstStart = !hasFile(tokens);
  if (!isFirstStart) warnOfNewDatabase(config, log);
  const storage = await openStorage(location);
  if (isFirstStart) await createFirstToken(tokens);
  const grants = new TokenGrants(tokens, log.error.bind(log), log.info.bind(log));
  const store = new PlantStore({ storage });
  const listener = createRequestListener(store, {
    authenticate: grants.find.bind(grants),
    onError: (error, { requestId, method, path }) => {
      log.error(`${method} ${path} failed`, error, requestId);
    },
    basePath,
    corsOrigin,
    trustedProxies,
  });
  const server = createServerFor(addDocs?.(listener) ?? listener);
  const readiness = new Readiness(storage, log);
  logEvents(server, log);
  // The public port is opened last, because a failed start would cut off its requests.
  const adminUrl = config.admin && (await listen(createAdminServer(server, readiness, grants), config.admin));
  const url = await listen(server, config.address);
  await runInterruptibly(async (signal) => {
    const signaled = once(signal, 'abort');
    announce(config, grants, url, adminUrl);
    log.info('listening', { version, commit, url, adminUrl, storage: location.place });
    void readiness.storageProblem();
    setInterval(grants.check.bind(grants), checkTokensMs).unref();
    await signaled;
    log.info(`${String(signal.reason)}: stopping`);
    readiness.isStopping = true;
    await sleep(config.drainDelayMs);
    const cutOff = await drainServer(server);
    if (cutOff > 0) log.error(`${formatCount(cutOff, 'connection')} cut off, because requests did not end in time.`);
    return 0;
  });
  // A database that does not respond must not keep the process running.
  await Promise.race([store.close(), sleep(exitGraceMs)]);
  log.info('stopped');
  // A thread that cannot write to a terminal or a disk would keep process.exit() waiting.
  if (!(await log.flush())) process.kill(process.pid);
  process.exit(0);
}

/** A tokens file without a database suggests that the path is wrong. Clients would see an empty store. */
function warnOfNewDatabase({ storage, tokens }: Config, log: Log): void {
  if (storage.kind !== 'sqlite' || existsSync(storage.file)) return;
  const advice = 'Unless this is the first start, stop the server and check --storage.';
  log.error(`${storage.file} does not exist, although ${tokens} does: a new database is created. ${advice}`);
}

/** Supervisors and scripts wait for the line with the URL. */
function announce({ storage, tokens, docs }: Config, grants: TokenGrants, url: string, adminUrl?: string): void {
  const lines = [
    `Plant Store listening on ${url}`,
    `Plants are stored in ${storage.place}, and tokens in ${tokens}.`,
    adminUrl && `Health and metrics: ${adminUrl}`,
    docs && `Try it in a browser: ${reachableUrl(url)}/docs`,
    describeFirstToken(tokens, grants, reachableUrl(url)),
  ];
  new Output(process.stdout).write(`${lines.filter((line) => line !== undefined).join('\n')}\n`);
}
