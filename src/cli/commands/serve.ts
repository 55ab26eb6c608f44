import { subscribe } from 'node:diagnostics_channel';
import { existsSync } from 'node:fs';
import type { Server } from 'node:http';
import { resolve as absolutePath } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestMessage } from '../../model/diagnostics.ts';
import { PlantStore } from '../../store/plant-store.ts';
import type { Authenticate } from '../../model/caller.ts';
import { checkBasePath } from '../../http/base-path.ts';
import { parseCorsOrigin } from '../../http/cors.ts';
import type { ServiceOptions } from '../../http/service-options.ts';
import { createListenerWithPages } from '../../http/node/request-listener.ts';
import type { FindPage } from '../../http/node/request-listener.ts';
import { createServerFor, drainServer } from '../../http/node/server.ts';
import { createTokenFileAuthenticator } from '../../tokens/authenticator.ts';
import { parseCommandLine, setting, switchSetting, tokensSetting, UsageError } from '../command.ts';
import type { Command, Setting } from '../command.ts';
import { createDocs } from '../docs/find-page.ts';
import { firstTokenTarget, issueFirstToken } from '../first-token.ts';
import type { FirstToken } from '../first-token.ts';
import { listen, reachableUrl } from '../listen.ts';
import { Log, logFormats } from '../output/log.ts';
import type { LogFormat } from '../output/log.ts';
import { probeStorage } from '../storage-probe.ts';
import type { StorageProbe } from '../storage-probe.ts';
import { openStorage, storagePlace, storageSetting } from '../open-storage.ts';

const help = `Usage: plant-store serve [OPTIONS]

Runs the HTTP service. On SIGINT, SIGTERM or SIGHUP, the server finishes the
requests in progress and exits.

Options:
  --host HOST         the address to listen on (HOST; default 127.0.0.1)
  --port PORT         the port to listen on; 0 selects a free port
                      (PORT; default 3000)
  --storage STORAGE   where the plants are stored: sqlite:FILE, memory or
                      postgres://USER:PASSWORD@HOST/DATABASE?PARAMETERS. The
                      parameter max=N sets the size of the connection pool
                      (default 10), schema=NAME and table=NAME set the table
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
  --trusted-proxies N the number of proxies that append to X-Forwarded-For, for
                      the client addresses in the log
                      (PLANT_STORE_TRUSTED_PROXIES; default 0)
  --log FORMAT        the format of the log on standard error: json, pretty or
                      off (PLANT_STORE_LOG; default pretty on a terminal, json
                      otherwise)
  --docs              serve a page at /docs to try the service in a browser;
                      needs the package swagger-ui-dist
                      (PLANT_STORE_DOCS=1; default: off)
  -h, --help          show this help

An environment variable in parentheses sets the default of its option.
`;

/** The maximum time that requests in progress have to finish after a signal. */
const drainGraceMs = 8000;
/** The maximum time from a signal to the exit of the process, even if the shutdown is incomplete. */
const stopWithinMs = 9500;
/**
 * The maximum time for which a running storage probe may delay the exit. The limit is needed because the database may
 * not respond.
 */
const probeGraceMs = 1000;
/** The maximum time for which the process delays its exit so that the last log lines can be read. */
const logGraceMs = 500;
/**
 * Signals within this interval count as one signal. If npm runs the server, Ctrl-C sends one signal from the terminal,
 * and npm forwards another.
 */
const sameSignalMs = 100;

interface ServeConfig {
  readonly host: string;
  readonly port: number;
  readonly storage: Setting;
  readonly tokens: string;
  readonly basePath: string;
  readonly corsOrigin: readonly string[];
  readonly trustedProxies: number;
  readonly log: LogFormat;
  readonly docs: Setting | undefined;
}

/** The command `plant-store serve`. */
export const serve: Command = { help, run: async (args) => runServer(parseConfig(args)) };

function parseConfig(args: string[]): ServeConfig {
  const { values } = parseCommandLine(args, {
    host: { type: 'string' },
    port: { type: 'string' },
    storage: { type: 'string' },
    tokens: { type: 'string' },
    'base-path': { type: 'string' },
    'cors-origin': { type: 'string' },
    'trusted-proxies': { type: 'string' },
    log: { type: 'string' },
    docs: { type: 'boolean' },
  });
  return {
    host: setting('--host', values.host, 'HOST', '127.0.0.1').text,
    port: parsePort(setting('--port', values.port, 'PORT', '3000')),
    storage: storageSetting(values.storage),
    tokens: tokensSetting(values.tokens),
    basePath: parseBasePath(setting('--base-path', values['base-path'], 'PLANT_STORE_BASE_PATH', '')),
    corsOrigin: parseCorsOrigins(setting('--cors-origin', values['cors-origin'], 'PLANT_STORE_CORS_ORIGIN', '')),
    trustedProxies: parseCount(
      setting('--trusted-proxies', values['trusted-proxies'], 'PLANT_STORE_TRUSTED_PROXIES', '0'),
    ),
    log: parseLogFormat(setting('--log', values.log, 'PLANT_STORE_LOG', process.stderr.isTTY ? 'pretty' : 'json')),
    docs: switchSetting('--docs', values.docs, 'PLANT_STORE_DOCS'),
  };
}

function parsePort({ text, source }: Setting): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) {
    throw new UsageError(`${source} must be 0 to 65535, not '${text}'.`);
  }
  return Number(text);
}

function parseBasePath({ text, source }: Setting): string {
  try {
    checkBasePath(text);
    return text;
  } catch (error) {
    throw new UsageError(`${(error as Error).message.replace('basePath', source)}.`, { cause: error });
  }
}

function parseCorsOrigins({ text, source }: Setting): readonly string[] {
  try {
    return text === '' ? [] : parseCorsOrigin(text.split(',').map((origin) => origin.trim()));
  } catch (error) {
    throw new UsageError(`${(error as Error).message.replace('corsOrigin', source)}.`, { cause: error });
  }
}

function parseCount({ text, source }: Setting): number {
  if (!/^\d{1,2}$/.test(text)) throw new UsageError(`${source} must be 0 to 99, not '${text}'.`);
  return Number(text);
}

function parseLogFormat({ text, source }: Setting): LogFormat {
  const format = logFormats.find((known) => known === text);
  if (format === undefined) throw new UsageError(`${source} must be json, pretty or off, not '${text}'.`);
  return format;
}

async function runServer(config: ServeConfig): Promise<number> {
  const log = new Log(config.log);
  const findPage: FindPage = config.docs === undefined ? () => undefined : createDocs(config.docs.source);
  const useTokens = (): Authenticate =>
    createTokenFileAuthenticator(config.tokens, {
      onWarning: (message) => {
        log.error(message);
      },
    });
  const firstTarget = existsSync(config.tokens) ? undefined : firstTokenTarget(config.tokens, process.stdout.isTTY);
  let authenticate: Authenticate = firstTarget === undefined ? useTokens() : () => null;

  const storage = await openStorage(config.storage);
  const store = new PlantStore({ storage });
  let probe: StorageProbe | undefined;
  const options: ServiceOptions = {
    authenticate: (token) => authenticate(token),
    onError: (error, { requestId, method, path }) => {
      log.error(`${method} ${path} failed`, error, requestId);
    },
    basePath: config.basePath,
    corsOrigin: config.corsOrigin,
    trustedProxies: config.trustedProxies,
  };
  const server = createServerFor(createListenerWithPages(store, options, findPage));
  try {
    if (config.log !== 'off') {
      subscribe('plant-store:request', (message) => {
        log.request(message as RequestMessage);
      });
    }
    server.on('clientError', (error) => {
      log.refusal(error);
    });
    server.on('drop', () => {
      log.error(`A connection was closed: ${server.maxConnections} are open.`);
    });
    server.on('idleConnectionClosed', () => {
      log.error(idleClosedText(server));
    });
    const url = await listen(server, config);

    // The token is issued after the server has started to listen. If the port is in use, for example, the startup fails
    // earlier and does not leave a token that was never shown.
    const first = firstTarget && issueFirstToken(config.tokens, firstTarget, reachableUrl(url));
    if (first !== undefined) authenticate = useTokens();
    const stopped = stopOnSignal(server, log, () => probe?.stop());
    process.stdout.write(first === undefined ? readyText(url, config) : firstStartText(url, first, config));
    probe = probeStorage(storage, log);
    await stopped;
  } finally {
    // The server is still listening here only if the startup failed after the port was opened.
    if (server.listening) await drainServer(server, 0);
    await Promise.race([store.close(), ...(probe?.isUnderWay === true ? [sleep(probeGraceMs)] : [])]);
    log.flush();
  }
  // Ends the process even if standard error is not read and log lines are still unwritten.
  setTimeout(() => process.exit(0), logGraceMs).unref();
  return 0;
}

/**
 * On the first signal, calls `onStop` and drains the server. Resolves when the server has been drained. A second signal
 * ends the process immediately.
 */
function stopOnSignal(server: Server, log: Log, onStop: () => void): Promise<void> {
  return new Promise((resolve) => {
    let firstAt: number | undefined;
    const onSignal = (signal: NodeJS.Signals, number: number): void => {
      const now = performance.now();
      if (firstAt !== undefined) {
        if (now - firstAt > sameSignalMs) process.exit(128 + number);
        return;
      }
      firstAt = now;
      log.info(`${signal}: stopping`);
      onStop();
      setTimeout(() => process.exit(1), stopWithinMs).unref();
      void drainServer(server, drainGraceMs).then(resolve);
    };
    process.on('SIGINT', onSignal).on('SIGTERM', onSignal).on('SIGHUP', onSignal);
  });
}

/**
 * Returns the line that supervisors and scripts wait for, followed by the URL of the documentation page if it is
 * enabled.
 */
function readyText(url: string, { docs }: ServeConfig): string {
  const page = docs === undefined ? '' : `Try it in a browser: ${reachableUrl(url)}/docs\n`;
  return `Plant Store listening on ${url}\n${page}`;
}

/**
 * Returns the output of a server that has issued the first token. The output ends with a command that a new user can
 * run next.
 */
function firstStartText(url: string, { text, curl }: FirstToken, config: ServeConfig): string {
  const { storage, tokens } = config;
  return `${text}
${readyText(url, config)}Plants are stored ${storagePlace(storage)}, and tokens in ${absolutePath(tokens)}.
To list your plants, run:

  ${curl}

`;
}

function idleClosedText({ maxConnections }: Server): string {
  return `An idle connection was closed to make room: at most ${maxConnections} connections may be open.`;
}
