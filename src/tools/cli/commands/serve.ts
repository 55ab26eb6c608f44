import { subscribe } from 'node:diagnostics_channel';
import { existsSync } from 'node:fs';
import type { Server } from 'node:http';
import { resolve as absolutePath } from 'node:path';
import { createListenerWithPages } from '../../../http/node/request-listener.ts';
import { createServerFor, drainServer } from '../../../http/node/server.ts';
import type { ServiceOptions } from '../../../http/service-options.ts';
import type { Authenticate } from '../../../core/model/caller.ts';
import type { RequestMessage } from '../../../core/model/diagnostics.ts';
import { PlantStore } from '../../../core/plant-store.ts';
import { createTokenFileAuthenticator } from '../../../tokens/authenticator.ts';
import { createAdminServer } from '../admin/admin.ts';
import { StorageProbe } from '../admin/storage-probe.ts';
import type { Command } from '../command.ts';
import { createDocs } from '../docs/find-page.ts';
import { prepareFirstToken } from '../first-token.ts';
import type { FirstToken } from '../first-token.ts';
import { listen, reachableUrl } from '../listen.ts';
import { openStorage, storagePlace } from '../storage.ts';
import { isRejectedInput, Log } from '../output/log.ts';
import { parseServeConfig, serveHelp } from '../serve-config.ts';
import type { ServeConfig } from '../serve-config.ts';

/** The maximum time for which requests in progress may continue after a signal. */
const drainGraceMs = 8000;
/** The maximum time from a signal to the exit of the process, even if the shutdown is incomplete. */
const stopWithinMs = 9500;
/**
 * The maximum time from the end of the last request to the exit of the process. The limit is needed because a database
 * may not respond, and because the log may not be read.
 */
const exitGraceMs = 1000;
/**
 * Signals within this interval count as one signal. If npm runs the server, Ctrl-C sends one signal from the terminal,
 * and npm forwards another.
 */
const sameSignalMs = 100;

/** The `plant-store serve` command. */
export const serve: Command = { help: serveHelp, run: async (args) => runServer(parseServeConfig(args)) };

async function runServer(config: ServeConfig): Promise<number> {
  const { docs, basePath, corsOrigin, trustedProxies } = config;
  const log = new Log(config.log);
  const findPage = docs === undefined ? () => undefined : createDocs(docs.source, basePath);
  const useTokens = (): Authenticate =>
    createTokenFileAuthenticator(config.tokens, {
      onWarning: (message) => {
        log.error(message);
      },
    });
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
    // The token is issued only after the server has started to listen. If the startup fails earlier, for example
    // because the port is in use, it does not leave behind a token that was never shown.
    const first = issueFirst?.();
    if (first !== undefined) authenticate = useTokens();
    const stopped = stopOnSignal(server, log, () => {
      probe.stop();
    });
    process.stdout.write(readyText(config, place, url, adminUrl, first));
    void probe.start();
    await stopped;
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

/** Logs the requests, the input that node:http rejects, and the connections that the server closes. */
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
 * Returns the output of a server that is ready. Supervisors and scripts wait for the line with the URL. If the server
 * has issued the first token, the output ends with a command that a new user can run next. `place` completes the sentence
 * "Plants are stored …".
 */
function readyText(
  config: ServeConfig,
  place: string,
  url: string,
  adminUrl: string | undefined,
  first: FirstToken | undefined,
): string {
  const lines = [
    `Plant Store listening on ${url}`,
    `Plants are stored ${place}, and tokens in ${absolutePath(config.tokens)}.`,
    ...(adminUrl === undefined ? [] : [`Health and metrics: ${adminUrl}`]),
    ...(config.docs === undefined ? [] : [`Try it in a browser: ${reachableUrl(url)}/docs`]),
  ];
  const ready = `${lines.join('\n')}\n`;
  if (first === undefined) return ready;
  return `${first.text}\n${ready}To list your plants, run:\n\n  ${first.curl(reachableUrl(url))}\n\n`;
}
