import { subscribe } from 'node:diagnostics_channel';
import { existsSync } from 'node:fs';
import type { Server } from 'node:http';
import { resolve as absolutePath } from 'node:path';
import type { Caller } from '../../../core/model/caller.ts';
import type { RequestMessage } from '../../../core/model/diagnostics.ts';
import { PlantStore } from '../../../core/plant-store.ts';
import { createRequestListener } from '../../../http/node/listener.ts';
import type { ServiceListener } from '../../../http/node/listener.ts';
import { createServerFor, drainServer } from '../../../http/node/server.ts';
import type { ServiceOptions } from '../../../http/options.ts';
import { TokenGrants } from '../../../tokens/grants.ts';
import { createAdminServer } from '../admin/admin.ts';
import { Readiness } from '../admin/readiness.ts';
import { createDocs } from '../docs/find-page.ts';
import { prepareFirstToken } from '../first-token.ts';
import { listen, reachableUrl } from '../listen.ts';
import { isRejectedInput, Log } from '../output/log.ts';
import { version } from '../package.ts';
import { describeStorage, openStorage } from '../storage.ts';
import { parseServeConfig } from './serve-config.ts';
import type { ServeConfig } from './serve-config.ts';

export const help = `Usage: plant-store serve [OPTIONS]

Runs the HTTP service. On SIGINT or SIGTERM, the server finishes the requests in
progress and exits. SIGHUP has the same effect, but only on a terminal.

Options:
  --host HOST         the address to listen on
                      (PLANT_STORE_HOST; default 127.0.0.1)
  --port PORT         the port to listen on; 0 selects a free port
                      (PLANT_STORE_PORT, else PORT; default 3000)
  --storage STORAGE   where the plants are stored: sqlite:FILE, memory or
                      postgres://USER:PASSWORD@HOST/DATABASE. Parameters are
                      sqlite:FILE?commitThread=true, which keeps lists fast on
                      a slow disk, and for PostgreSQL max=N, the size of the
                      connection pool (default 10), schema=NAME and table=NAME
                      (PLANT_STORE_STORAGE, else DATABASE_URL;
                      default sqlite:plants.db)
  --tokens FILE       the tokens file. If it is missing, it is created with a
                      token for the user 'me', which is written to
                      first-token.txt in its folder
                      (PLANT_STORE_TOKENS; default tokens.json)
  --base-path PATH    the path under which clients reach the service, such as
                      /garden (PLANT_STORE_BASE_PATH; default none)
  --cors-origin LIST  the origins whose web pages may call the service,
                      separated by commas, or * for all
                      (PLANT_STORE_CORS_ORIGIN; default none)
  --trusted-proxies N the number of proxies that append to X-Forwarded-For
                      (PLANT_STORE_TRUSTED_PROXIES; default 0)
  --admin-port PORT   the port of /live, /ready and /metrics
                      (PLANT_STORE_ADMIN_PORT; default: off)
  --admin-host HOST   the address of the admin port
                      (PLANT_STORE_ADMIN_HOST; default 127.0.0.1)
  --log FORMAT        the format of the log on standard error: json, pretty or
                      off (PLANT_STORE_LOG; default pretty on a terminal)
  --log-level LEVEL   info, or error for errors only
                      (PLANT_STORE_LOG_LEVEL; default info)
  --docs              serve a web page at /docs to try the service; requires
                      the package swagger-ui-dist (PLANT_STORE_DOCS=1)
  -h, --help          show this help
`;

/** How long requests in progress may continue after a signal. */
const drainGraceMs = 8000;
/** The process exits at this time after the last request, even if the database does not respond. */
const exitGraceMs = 1000;
/** The process exits at this time after a signal in any case. */
const stopWithinMs = 9500;
/** Signals within this interval count as one. If npm runs the server, Ctrl-C causes two: npm forwards the signal. */
const sameSignalMs = 100;

export async function run(args: string[]): Promise<number> {
  const config = parseServeConfig(args);
  const { docs, basePath, corsOrigin, trustedProxies } = config;
  const log = new Log(config.log);
  const addDocs = docs === undefined ? (listener: ServiceListener) => listener : createDocs(docs, basePath);
  const useTokens = () => authenticateAndLog(config.tokens, log);
  const issueFirst = existsSync(config.tokens) ? undefined : prepareFirstToken(config.tokens);
  let authenticate: (token: string) => Caller | null = issueFirst === undefined ? useTokens() : () => null;

  const place = describeStorage(config.storage);
  const storage = await openStorage(config.storage);
  const store = new PlantStore({ storage });
  const readiness = new Readiness(storage, log);
  const options: ServiceOptions = {
    authenticate: (token) => authenticate(token),
    onError: (error, { requestId, method, path }) => {
      log.error(`${method} ${path} failed`, error, requestId);
    },
    basePath,
    corsOrigin,
    trustedProxies,
  };
  const server = createServerFor(addDocs(createRequestListener(store, options)));
  const adminServer = config.admin === undefined ? undefined : createAdminServer(server, readiness);
  try {
    logEvents(server, log);
    const url = await listen(server, config.address);
    const adminUrl = adminServer && config.admin && (await listen(adminServer, config.admin, 'admin-'));
    adminServer?.on('error', (error) => {
      log.error('The admin port failed', error);
      log.flush();
      // A server without its admin port cannot be monitored.
      process.exit(1);
    });
    // The token is issued only after the server has started to listen. Otherwise, a failed startup, for example because
    // the port is in use, would leave behind a token that was never shown.
    const first = issueFirst?.(reachableUrl(url));
    if (first !== undefined) authenticate = useTokens();
    const signaled = untilSignal(log);
    process.stdout.write(readyText(config, place, url, adminUrl, first));
    // On a terminal, the text on standard output says the same.
    if (config.log.format === 'json') log.info('listening', { version: version(), url, adminUrl, storage: place });
    void readiness.works();
    log.info(`${await signaled}: stopping`);
    readiness.stop();
    setTimeout(() => process.exit(1), stopWithinMs).unref();
    await drainServer(server, { graceMs: drainGraceMs });
    setTimeout(() => {
      log.info('stopped');
      log.flush();
      process.exit(0);
    }, exitGraceMs).unref();
  } finally {
    // The server is still listening here only if the startup failed after the port was opened.
    if (server.listening) await drainServer(server, { graceMs: 0 });
    await store.close();
    adminServer?.close();
    adminServer?.closeAllConnections();
    log.flush();
  }
  log.info('stopped');
  log.flush();
  return 0;
}

/** Returns a function that accepts the tokens in a file, and logs why other tokens are rejected. */
function authenticateAndLog(path: string, log: Log): (token: string) => Caller | null {
  const grants = new TokenGrants(path, log.error.bind(log));
  return (token) => {
    const found = grants.find(token);
    if ('caller' in found) return found.caller;
    log.info(`A token was rejected: ${found.reason}`, { tokenId: found.tokenId });
    return null;
  };
}

function logEvents(server: Server, log: Log): void {
  // Without subscribers, requests are not traced.
  if (log.hasInfo) {
    subscribe('tracing:plant-store:request:asyncEnd', (message) => {
      log.request(message as RequestMessage);
    });
  }
  server.on('clientError', (error: NodeJS.ErrnoException) => {
    if (isRejectedInput(error)) log.info('refused', { code: error.code });
  });
  server.on('drop', () => {
    log.error(`A connection was closed: ${server.maxConnections} are open.`);
  });
  server.on('connectionEvicted', () => {
    const limit = `at most ${server.maxConnections} connections may be open`;
    log.error(`The least active connection was closed to make room: ${limit}.`);
  });
}

/** Resolves with the first signal to stop. A second one ends the process immediately. */
function untilSignal(log: Log): Promise<NodeJS.Signals> {
  const hasTerminal = [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY);
  return new Promise((resolve) => {
    let firstAt: number | undefined;
    const onSignal = (signal: NodeJS.Signals, number: number): void => {
      if (signal === 'SIGHUP' && !hasTerminal) {
        log.info('SIGHUP: ignored, because there is no terminal');
        return;
      }
      firstAt ??= performance.now();
      if (performance.now() - firstAt > sameSignalMs) process.exit(128 + number);
      resolve(signal);
    };
    process.on('SIGINT', onSignal).on('SIGTERM', onSignal).on('SIGHUP', onSignal);
  });
}

/** Returns the text that the server prints when it is ready. Supervisors and scripts wait for the line with the URL. */
function readyText(
  config: ServeConfig,
  place: string,
  url: string,
  adminUrl: string | undefined,
  first: string | undefined,
): string {
  const lines = [
    `Plant Store listening on ${url}`,
    `Plants are stored in ${place}, and tokens in ${absolutePath(config.tokens)}.`,
    adminUrl && `Health and metrics: ${adminUrl}`,
    config.docs && `Try it in a browser: ${reachableUrl(url)}/docs`,
    first,
  ];
  return `${lines.filter((line) => line !== undefined).join('\n')}\n`;
}
