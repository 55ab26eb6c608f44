import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setInterval } from 'node:timers';
import { setTimeout as sleep } from 'node:timers/promises';
import { errorChain } from '../../boundary/error-text.ts';
import { NoStoreError } from '../../core/model/errors.ts';
import { PlantStore } from '../../core/plant-store.ts';
import { hasFile } from '../../files/file.ts';
import { parseCorsOrigin } from '../../http/cors.ts';
import { createRequestListener } from '../../http/node/listener.ts';
import { createServerFor, drainServer } from '../../http/node/server.ts';
import { checkBasePath } from '../../http/routes.ts';
import { TokenGrants } from '../../tokens/grants.ts';
import { createAdminServer, Readiness } from '../admin.ts';
import { defaultLogFormat, version } from '../command-line.ts';
import type { Settings } from '../command-line.ts';
import { commit } from '../commit.ts';
import { createDocs } from '../docs.ts';
import { addPlace, describeError, isWrongSetting, UsageError, withUsageError } from '../errors.ts';
import { createFirstToken, describeFirstToken } from '../first-token.ts';
import { Log, logEvents } from '../log.ts';
import { formatCount, Output, runInterruptibly } from '../process.ts';
import { requireSafePath } from '../refuse-root.ts';
import { openStorage, parseStorage } from '../storage.ts';
import type { StorageLocation } from '../storage.ts';

const checkTokensMs = 1000;
const retryStorageMs = 1000;
const closeMs = 1000;

export async function run(settings: Settings<'serve'>): Promise<number> {
  const location = parseStorage(settings.storage, ['sqlite', 'postgres', 'memory']);
  const tokens = requireSafePath(settings.tokens.value);
  try {
    return await serve(settings, location, tokens);
  } catch (error) {
    if (![...errorChain(error)].some((each) => each instanceof NoStoreError)) throw addPlace(location.place, error);
    // A lost disk or a wrong path must not look like an empty store.
    const advice = `check ${settings.storage.source}, or restore a backup`;
    const creation = `To create an empty database in ${location.place}, add --create once`;
    throw new UsageError(
      `${describeError(error)} The tokens file ${tokens} exists, so the database may be lost: ${advice}. ${creation}.`,
      { cause: error },
    );
  }
}

async function serve(settings: Settings<'serve'>, location: StorageLocation, tokens: string): Promise<number> {
  const service = parseService(settings);
  const output = new ServerOutput(settings);
  const { log } = output;
  handleProcessEvents(output);
  const addDocs = settings.docs.value ? createDocs(settings.docs.source, service.basePath) : undefined;
  const openGrants = (): TokenGrants => new TokenGrants(tokens, log.error.bind(log), log.info.bind(log));
  const isFirstStart = !hasFile(tokens);
  const existing = isFirstStart ? undefined : openGrants();
  const isNewFile = location.kind === 'sqlite' && !hasFile(location.place);
  if (isFirstStart && location.kind === 'sqlite' && !isNewFile) {
    log.error(`There is no tokens file ${tokens}, although ${location.place} exists. A new tokens file is created.`);
  }
  const storage = openStorage(location, isFirstStart || settings.create.value);
  const store = new PlantStore({ storage });
  const readiness = new Readiness(storage, log);
  await runInterruptibly(async (signal) => {
    const signaled = once(signal, 'abort');
    const isUsable = (): Promise<boolean> => untilUsable(readiness, location.place, output, signal);
    // A first start that fails can be repeated, because the tokens file is created after the database.
    if (isFirstStart && (await isUsable())) await createFirstToken(tokens);
    if (signal.aborted) return;
    const grants = existing ?? openGrants();
    const listener = createRequestListener(store, {
      ...service,
      authenticate: grants.find.bind(grants),
      onError: (error, { requestId, method, path }) => {
        log.error(`${method} ${path} failed`, error, requestId);
      },
    });
    const server = createServerFor(addDocs?.(listener) ?? listener);
    logEvents(server, log);
    // The public port is opened last. Otherwise, a failure to open the admin port would cut off requests.
    const adminUrl = await openAdminPort(settings, server, readiness, grants);
    if (adminUrl !== undefined) output.say(`Health and metrics: ${adminUrl}`);
    const url = await listen(server, settings.host.value, settings.port.value, '--port or --host');
    setInterval(grants.check.bind(grants), checkTokensMs).unref();
    if (await isUsable()) {
      readiness.isServing = true;
      // Supervisors and scripts wait for this line.
      output.say(`Plant Store listening on ${url}`);
      output.say(`Plants are stored in ${isNewFile ? 'the new file ' : ''}${location.place}, and tokens in ${tokens}.`);
      if (settings.docs.value) output.say(`Try it in a browser: ${reachableUrl(url)}/docs`);
      output.write(describeFirstToken(tokens, grants, reachableUrl(url)));
      log.info('listening', { version, commit: commit || undefined, url, adminUrl, storage: location.place });
    }
    await signaled;
    log.info(`${String(signal.reason)}: stopping`);
    readiness.isServing = false;
    await stop(server, settings['drain-delay'].value, log);
  });
  // A database that does not respond must not keep the process running.
  await Promise.race([store.close(), sleep(closeMs)]);
  log.info('stopped');
  return output.end(0);
}

/** Parses the options of the service, which have a syntax of their own. */
function parseService(settings: Settings<'serve'>) {
  const { 'admin-port': adminPort, 'admin-host': adminHost } = settings;
  if (adminPort.value === undefined && adminHost.value !== undefined) {
    throw new UsageError(`${adminHost.source} needs --admin-port.`);
  }
  const { 'base-path': path, 'cors-origin': cors, 'trusted-proxies': proxies } = settings;
  const basePath = path.value ?? '';
  withUsageError(path.source, () => {
    checkBasePath(basePath);
  });
  const origins = cors.value?.split(',').map((origin) => origin.trim()) ?? [];
  const corsOrigin = withUsageError(cors.source, () => parseCorsOrigin(origins));
  return { basePath, corsOrigin, trustedProxies: proxies.value };
}

/** Writes to standard output, which is for people and supervisors, and to the log on standard error. */
class ServerOutput {
  readonly #stdout = new Output(process.stdout);
  readonly #stderr = new Output(process.stderr);
  readonly log: Log;

  constructor({ log, 'log-level': level }: Settings<'serve'>) {
    this.log = new Log(log.value ?? defaultLogFormat, level.value, this.#stderr.write.bind(this.#stderr));
  }

  write(text: string): void {
    this.#stdout.write(text);
  }

  say(text: string): void {
    this.write(`${text}\n`);
  }

  /**
   * Writes the remaining output and ends the process. If a thread still cannot write to a terminal or a disk, the
   * process ends itself with SIGTERM, because `process.exit()` would wait for this thread.
   */
  async end(code: number): Promise<never> {
    this.log.reportRepeats();
    const isFlushed = await Promise.all([this.#stderr.flush(), this.#stdout.flush()]);
    if (isFlushed.includes(false)) {
      process.removeAllListeners('SIGTERM');
      process.kill(process.pid);
    }
    process.exit(code);
  }
}

function handleProcessEvents(output: ServerOutput): void {
  // By default, this signal opens the debugger of Node.js. Log rotation scripts for nginx send it.
  process.on('SIGUSR1', () => undefined);
  // Node.js would write warnings, including those of `pg`, and uncaught errors to standard error in several lines.
  process.removeAllListeners('warning').on('warning', ({ message }) => {
    output.log.error(`Warning: ${message}`);
  });
  process.on('uncaughtException', (error) => {
    output.log.error('The server ends', error);
    void output.end(1);
  });
}

/** Waits until the storage works. Resolves with `false` after a signal. Rejects if waiting cannot help. */
async function untilUsable(
  readiness: Readiness,
  place: string,
  output: ServerOutput,
  signal: AbortSignal,
): Promise<boolean> {
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    const problem = await readiness.storageProblem();
    if (problem === '') return true;
    if (isWrongSetting(readiness.failure)) throw readiness.failure;
    if (isFirst) {
      output.say(`Plant Store is waiting for the storage: ${place}`);
      output.log.error(`Waiting for the storage: ${problem}`);
    }
    await sleep(retryStorageMs, undefined, { signal }).catch(() => undefined);
  }
  return false;
}

async function openAdminPort(
  { 'admin-port': port, 'admin-host': host }: Settings<'serve'>,
  server: Server,
  readiness: Readiness,
  grants: TokenGrants,
): Promise<string | undefined> {
  if (port.value === undefined) return undefined;
  const adminServer = createAdminServer(server, readiness, grants);
  return listen(adminServer, host.value ?? '127.0.0.1', port.value, '--admin-port or --admin-host');
}

export async function listen(server: Server, host: string, port: number, flags: string): Promise<string> {
  // The brackets around an IPv6 address belong only to URLs.
  const name = host.replace(/^\[(.*)\]$/, '$1');
  server.listen(port, name);
  try {
    await once(server, 'listening');
  } catch (cause) {
    const { code = '', message } = cause as NodeJS.ErrnoException;
    // After any other error, a retry may succeed: at boot, an address or the name service may not be available yet.
    const Kind = code === 'EACCES' ? UsageError : Error;
    throw new Kind(`${message}. Change ${flags}.`, { cause });
  }
  const { port: listening } = server.address() as AddressInfo;
  return `http://${name.includes(':') ? `[${name}]` : name}:${listening}`;
}

/** Finishes the requests in progress, after a delay in which the server still accepts connections. */
async function stop(server: Server, delaySeconds: number, log: Log): Promise<void> {
  await sleep(delaySeconds * 1000);
  const cutOff = await drainServer(server);
  if (cutOff > 0) log.error(`${formatCount(cutOff, 'connection')} cut off, because requests did not end in time.`);
}

/** Returns a URL with which programs on this machine can reach a server, even if it listens on all addresses. */
export function reachableUrl(url: string): string {
  return url.replace(/^http:\/\/(?:0\.0\.0\.0|\[::\]):/, 'http://localhost:');
}
