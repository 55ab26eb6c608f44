import { subscribe } from 'node:diagnostics_channel';
import { existsSync } from 'node:fs';
import type { Server } from 'node:http';
import { resolve as absolutePath } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RequestMessage } from '../../model/diagnostics.ts';
import { PlantStore } from '../../store/plant-store.ts';
import type { Authenticate } from '../../model/caller.ts';
import type { ServiceOptions } from '../../http/service-options.ts';
import { createListenerWithPages } from '../../http/node/request-listener.ts';
import type { FindPage } from '../../http/node/request-listener.ts';
import { createServerFor, drainServer } from '../../http/node/server.ts';
import { createTokenFileAuthenticator } from '../../tokens/authenticator.ts';
import { Admin } from '../admin/admin.ts';
import type { Command } from '../command.ts';
import { createDocs } from '../docs/find-page.ts';
import { firstTokenTarget, issueFirstToken } from '../first-token.ts';
import type { FirstToken } from '../first-token.ts';
import { listen, reachableUrl } from '../listen.ts';
import type { ListenAddress } from '../listen.ts';
import { Log } from '../output/log.ts';
import { isRejectedInput } from '../rejected-input.ts';
import { parseServeConfig, serveHelp } from '../serve-config.ts';
import type { ServeConfig } from '../serve-config.ts';
import { probeStorage } from '../storage-probe.ts';
import type { StorageProbe } from '../storage-probe.ts';
import { version } from '../version.ts';
import { openStorage, storagePlace } from '../open-storage.ts';

/** The maximum time for which requests in progress may continue after a signal. */
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

/** The `plant-store serve` command. */
export const serve: Command = { help: serveHelp, run: async (args) => runServer(parseServeConfig(args)) };

async function runServer(config: ServeConfig): Promise<number> {
  const log = new Log(config.log);
  const admin = config.admin === undefined ? undefined : await startAdmin(config.admin, log);
  try {
    return await runService(config, log, admin);
  } finally {
    admin?.close();
  }
}

/**
 * Opens the admin port. If the port fails later, the process exits, because a server without this port cannot be
 * monitored.
 */
function startAdmin(address: ListenAddress, log: Log): Promise<Admin> {
  const onFailure = (error: Error): void => {
    log.error('The admin port failed', error);
    log.flush();
    process.exit(1);
  };
  return Admin.start({ address, version: version(), onFailure });
}

async function runService(config: ServeConfig, log: Log, admin: Admin | undefined): Promise<number> {
  const findPage: FindPage = config.docs === undefined ? () => undefined : createDocs(config.docs.source);
  const useTokens = (): Authenticate =>
    createTokenFileAuthenticator(config.tokens, {
      onWarning: (message) => {
        log.error(message);
      },
    });
  const firstTarget = existsSync(config.tokens) ? undefined : firstTokenTarget(config.tokens, process.stdout.isTTY);
  let authenticate: Authenticate = firstTarget === undefined ? useTokens() : () => null;

  const place = storagePlace(config.storage);
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
    server.on('clientError', (error: NodeJS.ErrnoException) => {
      if (!isRejectedInput(error)) return;
      log.rejection(error.code);
      admin?.countRejected();
    });
    admin?.watch(server, store);
    server.on('drop', () => {
      log.error(`A connection was closed: ${server.maxConnections} are open.`);
    });
    server.on('idleConnectionClosed', () => {
      log.error(idleClosedText(server));
    });
    const url = await listen(server, config);

    // The token is issued only after the server has started to listen. If the startup fails earlier, for example
    // because the port is in use, it does not leave behind a token that was never shown.
    const first = firstTarget && issueFirstToken(config.tokens, firstTarget, reachableUrl(url));
    if (first !== undefined) authenticate = useTokens();
    const stopped = stopOnSignal(server, log, () => {
      admin?.draining();
      probe?.stop();
    });
    const ready = readyText(url, place, config, admin);
    process.stdout.write(first === undefined ? ready : firstStartText(ready, first));
    admin?.serving(storage);
    probe = probeStorage(storage, log);
    await stopped;
  } finally {
    // The server is still listening here only if the startup failed after the port was opened.
    if (server.listening) await drainServer(server, 0);
    await Promise.race([store.close(), ...(probe?.isUnderWay === true ? [sleep(probeGraceMs)] : [])]);
    log.flush();
  }
  // Exits even if standard error is not read and some log lines have not been written.
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
 * Returns the output of a server that is ready. Supervisors and scripts wait for the first line. `place` completes the
 * sentence "Plants are stored …". If the admin port and the documentation page are enabled, their URLs follow.
 */
function readyText(url: string, place: string, { docs, tokens }: ServeConfig, admin: Admin | undefined): string {
  const health = admin === undefined ? '' : `Health and metrics: ${admin.url}\n`;
  const page = docs === undefined ? '' : `Try it in a browser: ${reachableUrl(url)}/docs\n`;
  const stored = `Plants are stored ${place}, and tokens in ${absolutePath(tokens)}.\n`;
  return `Plant Store listening on ${url}\n${stored}${health}${page}`;
}

/**
 * Returns the output of a server that has issued the first token. The output ends with a command that a new user can
 * run next.
 */
function firstStartText(ready: string, { text, curl }: FirstToken): string {
  return `${text}
${ready}To list your plants, run:

  ${curl}

`;
}

function idleClosedText({ maxConnections }: Server): string {
  return `An idle connection was closed to make room: at most ${maxConnections} connections may be open.`;
}
