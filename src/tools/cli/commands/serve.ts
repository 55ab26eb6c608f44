import { subscribe } from 'node:diagnostics_channel';
import { existsSync } from 'node:fs';
import type { Server } from 'node:http';
import { resolve as absolutePath } from 'node:path';
import { checkBasePath } from '../../../http/base-path.ts';
import { parseCorsOrigin } from '../../../http/cors.ts';
import { createListenerWithPages } from '../../../http/node/request-listener.ts';
import { createServerFor, drainServer } from '../../../http/node/server.ts';
import type { ServiceOptions } from '../../../http/service-options.ts';
import type { Authenticate } from '../../../core/model/caller.ts';
import type { RequestMessage } from '../../../core/model/diagnostics.ts';
import { PlantStore } from '../../../core/plant-store.ts';
import { createTokenFileAuthenticator } from '../../../tokens/authenticator.ts';
import { createAdminServer } from '../admin/admin.ts';
import { StorageProbe } from '../admin/storage-probe.ts';
import { parseCommandLine, setting, UsageError } from '../command.ts';
import type { Setting } from '../command.ts';
import { createDocs } from '../docs/find-page.ts';
import { settings } from '../environment.ts';
import type { SettingName } from '../environment.ts';
import { prepareFirstToken } from '../first-token.ts';
import type { FirstToken } from '../first-token.ts';
import { listen, reachableUrl } from '../listen.ts';
import { openStorage, storagePlace } from '../storage.ts';
import { isRejectedInput, Log, logFormats } from '../output/log.ts';
import type { LogFormat } from '../output/log.ts';

export const help = `Usage: plant-store serve [OPTIONS]

Runs the HTTP service. On SIGINT, SIGTERM or SIGHUP, the server finishes the
requests in progress and exits.

Options:
  --host HOST         the address to listen on
                      (PLANT_STORE_HOST, else HOST; default 127.0.0.1)
  --port PORT         the port to listen on; 0 selects a free port
                      (PLANT_STORE_PORT, else PORT; default 3000)
  --storage STORAGE   where the plants are stored: sqlite:FILE, memory or
                      postgres://USER:PASSWORD@HOST/DATABASE?PARAMETERS. On
                      a slow disk, sqlite:FILE?commitThread=true keeps lists
                      fast. For PostgreSQL, the parameter max=N sets the size
                      of the connection pool (default 10), schema=NAME and
                      table=NAME set the table
                      (PLANT_STORE_STORAGE, else DATABASE_URL;
                      default sqlite:plants.db)
  --tokens FILE       the tokens file. If it is missing, it is created with a
                      token for the user 'me'. The token is printed on a
                      terminal, and otherwise written to first-token.txt in
                      the same folder
                      (PLANT_STORE_TOKENS; default tokens.json)
  --base-path PATH    the path under which clients reach the service, such as
                      /garden (PLANT_STORE_BASE_PATH; default none)
  --cors-origin LIST  the origins whose web pages may call the service, such as
                      https://app.example.com, separated by commas; * for all
                      (PLANT_STORE_CORS_ORIGIN; default none)
  --trusted-proxies N the number of proxies that append to X-Forwarded-For; the
                      log contains the client address that they report
                      (PLANT_STORE_TRUSTED_PROXIES; default 0)
  --admin-port PORT   the port of /live, /ready and /metrics; 0 selects a free
                      port (PLANT_STORE_ADMIN_PORT; default: off)
  --admin-host HOST   the address of the admin port
                      (PLANT_STORE_ADMIN_HOST; default 127.0.0.1)
  --log FORMAT        the format of the log on standard error: json, pretty or
                      off (PLANT_STORE_LOG; default pretty on a terminal, json
                      otherwise)
  --docs              serve a web page at /docs to try the service; requires
                      the swagger-ui-dist package
                      (PLANT_STORE_DOCS=1; default: off)
  -h, --help          show this help

An environment variable in parentheses sets the default of its option.
`;

/** The maximum time for which requests in progress may continue after a signal. */
const drainGraceMs = 8000;
/** The maximum time from a signal until the process exits, even if the shutdown is incomplete. */
const stopWithinMs = 9500;
/**
 * The maximum time from the end of the last request until the process exits. The limit is needed because the database
 * might not respond, and because the log might not be read.
 */
const exitGraceMs = 1000;
/**
 * Signals within this interval count as one signal. If npm runs the server, Ctrl-C causes two signals: the terminal
 * sends one, and npm forwards another.
 */
const sameSignalMs = 100;

function parseConfig(args: string[]) {
  const { values } = parseCommandLine('serve', args, settings);
  const given = (name: Exclude<SettingName, 'docs'>): Setting => setting(name, values[name]);
  const address = { host: given('host').text, port: parseInteger(given('port'), 65_535) };
  const [adminHost, adminPort] = [given('admin-host').text, given('admin-port')];
  const admin = adminPort.text === '' ? undefined : { host: adminHost, port: parseInteger(adminPort, 65_535) };
  if (admin === undefined && values['admin-host'] !== undefined) {
    throw new UsageError('--admin-host has no effect without --admin-port.');
  }
  if (admin?.host === address.host && admin.port === address.port && admin.port !== 0) {
    throw new UsageError(`${given('port').source} and ${adminPort.source} must not be the same port.`);
  }
  return {
    address,
    storage: given('storage'),
    tokens: given('tokens').text,
    basePath: parseOption('basePath', given('base-path'), (text) => {
      checkBasePath(text);
      return text;
    }),
    corsOrigin: parseOption('corsOrigin', given('cors-origin'), (text) =>
      text === '' ? [] : parseCorsOrigin(text.split(',').map((origin) => origin.trim())),
    ),
    trustedProxies: parseInteger(given('trusted-proxies'), 99),
    admin,
    log: parseLogFormat(given('log')),
    docs: parseSwitch(setting('docs', values.docs === true ? '1' : undefined)),
  };
}

function parseInteger({ text, source }: Setting, max: number): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= max) return Number(text);
  throw new UsageError(`${source} must be 0 to ${max}, not '${text}'.`);
}

/** Parses an option of the service. An error message names the setting instead of the option, and quotes its value. */
function parseOption<T>(option: string, { text, source }: Setting, parse: (text: string) => T): T {
  try {
    return parse(text);
  } catch (error) {
    throw new UsageError(`${(error as Error).message.replace(option, source)}, not '${text}'.`, { cause: error });
  }
}

function parseLogFormat({ text, source }: Setting): LogFormat {
  if (text === '') return process.stderr.isTTY ? 'pretty' : 'json';
  const format = logFormats.find((known) => known === text);
  if (format === undefined) throw new UsageError(`${source} must be json, pretty or off, not '${text}'.`);
  return format;
}

function parseSwitch(given: Setting): Setting | undefined {
  const { text, source } = given;
  if (text !== '0' && text !== '1') throw new UsageError(`${source} must be 0 or 1, not '${text}'.`);
  return text === '1' ? given : undefined;
}

export async function run(args: string[]): Promise<number> {
  const config = parseConfig(args);
  const { docs, basePath, corsOrigin, trustedProxies } = config;
  const log = new Log(config.log);
  const findPage = docs === undefined ? () => undefined : createDocs(docs.source, basePath);
  const useTokens = (): Authenticate => createTokenFileAuthenticator(config.tokens, { onWarning: log.error.bind(log) });
  const issueFirst = existsSync(config.tokens) ? undefined : prepareFirstToken(config.tokens);
  let authenticate: Authenticate = issueFirst === undefined ? useTokens() : () => null;

  const place = storagePlace(config.storage);
  const storage = await openStorage(config.storage, {
    createIfMissing: true,
    onNewTable: (table) => {
      log.info(`Plants are stored in the new table ${table}.`);
    },
  });
  const store = new PlantStore({ storage });
  const probe = new StorageProbe(storage, log);
  const options: ServiceOptions = {
    authenticate: (token) => authenticate(token),
    onError: (error, { requestId, method, path }) => {
      log.error(`${method} ${path} failed`, error, requestId);
      void probe.start(true);
    },
    basePath,
    corsOrigin,
    trustedProxies,
  };
  const server = createServerFor(createListenerWithPages(store, options, findPage));
  const adminServer = config.admin === undefined ? undefined : createAdminServer(server, store, probe);
  try {
    if (config.log !== 'off') logEvents(server, log);
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
    const signaled = untilSignal();
    process.stdout.write(readyText(config, place, url, adminUrl, first));
    void probe.start();
    log.info(`${await signaled}: stopping`);
    probe.stop();
    setTimeout(() => process.exit(1), stopWithinMs).unref();
    await drainServer(server, drainGraceMs);
    setTimeout(() => {
      log.flush();
      process.exit(0);
    }, exitGraceMs).unref();
  } finally {
    // The server is still listening here only if the startup failed after the port was opened.
    if (server.listening) await drainServer(server, 0);
    await store.close();
    adminServer?.close();
    adminServer?.closeAllConnections();
    log.flush();
  }
  return 0;
}

function logEvents(server: Server, log: Log): void {
  subscribe('tracing:plant-store:request:asyncEnd', (message) => {
    log.request(message as RequestMessage);
  });
  server.on('clientError', (error: NodeJS.ErrnoException) => {
    if (isRejectedInput(error)) log.rejection(error.code);
  });
  server.on('drop', () => {
    log.error(`A connection was closed: ${server.maxConnections} are open.`);
  });
  server.on('connectionEvicted', () => {
    const limit = `at most ${server.maxConnections} connections may be open`;
    log.error(`The least active connection was closed to make room: ${limit}.`);
  });
}

/** Resolves with the first signal. A second signal ends the process immediately. */
function untilSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let firstAt: number | undefined;
    const onSignal = (signal: NodeJS.Signals, number: number): void => {
      firstAt ??= performance.now();
      if (performance.now() - firstAt > sameSignalMs) process.exit(128 + number);
      resolve(signal);
    };
    process.on('SIGINT', onSignal).on('SIGTERM', onSignal).on('SIGHUP', onSignal);
  });
}

/**
 * Returns the text that the server prints when it is ready. Supervisors and scripts wait for the line with the URL.
 * `place` completes the sentence "Plants are stored …".
 */
function readyText(
  config: ReturnType<typeof parseConfig>,
  place: string,
  url: string,
  adminUrl: string | undefined,
  first: FirstToken | undefined,
): string {
  const lines = [
    first?.text,
    `Plant Store listening on ${url}`,
    `Plants are stored ${place}, and tokens in ${absolutePath(config.tokens)}.`,
    adminUrl && `Health and metrics: ${adminUrl}`,
    config.docs && `Try it in a browser: ${reachableUrl(url)}/docs`,
    first && `To list your plants, run:\n\n  ${first.curl}\n`,
  ];
  return `${lines.filter((line) => line !== undefined).join('\n')}\n`;
}
