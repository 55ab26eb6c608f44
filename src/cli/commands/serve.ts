import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PlantStore } from '../../core/plant-store.ts';
import { parseCorsOrigin } from '../../http/cors.ts';
import { createRequestListener } from '../../http/node/listener.ts';
import { createServerFor, drainServer } from '../../http/node/server.ts';
import { checkBasePath } from '../../http/options.ts';
import { TokenGrants } from '../../tokens/grants.ts';
import { hasTokenFile } from '../../tokens/token-file.ts';
import { createAdminServer } from '../admin/admin.ts';
import { Readiness } from '../admin/readiness.ts';
import { withUsageError, parseCommandLine, UsageError } from '../command.ts';
import { createDocs } from '../docs.ts';
import { parseInteger, parseWord, readSetting, settings } from '../environment.ts';
import type { Setting, SettingName } from '../environment.ts';
import { createFirstToken, describeFirstToken } from '../first-token.ts';
import { runInterruptibly } from '../interruption.ts';
import { listen, reachableUrl } from '../listen.ts';
import type { Address } from '../listen.ts';
import { Log, logEvents, logFormats, logLevels } from '../output/log.ts';
import { Output } from '../output/output.ts';
import { formatCount } from '../output/text.ts';
import { version } from '../package.ts';
import { refuseRoot } from '../refuse-root.ts';
import { filesOf, openStorage, parseStorage } from '../storage.ts';

export const help = `Usage: plant-store serve [OPTIONS]

Runs the HTTP service. On SIGINT or SIGTERM, the server finishes the requests in
progress and exits. SIGHUP has the same effect, but only on a terminal.

Options:
  --host HOST         the address to listen on
                      (PLANT_STORE_HOST; default 127.0.0.1)
  --port PORT         the port to listen on; 0 selects a free port
                      (PLANT_STORE_PORT, else PORT; default 3000)
  --storage STORAGE   sqlite:FILE, sqlite:FILE?commitThread=true, memory or
                      postgres://USER:PASSWORD@HOST/DATABASE, with parameters
                      such as max=N, the size of the connection pool,
                      schema=NAME and table=NAME
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
  --drain-delay SECONDS
                      how long the server still accepts connections after a
                      signal, while /ready returns 503 to load balancers
                      (PLANT_STORE_DRAIN_DELAY; default 0)
  --log FORMAT        the format of the log on standard error: json or pretty
                      (PLANT_STORE_LOG; default pretty on a terminal)
  --log-level LEVEL   info, or error for errors only
                      (PLANT_STORE_LOG_LEVEL; default info)
  --docs              serve a web page at /docs to try the service; requires
                      the package swagger-ui-dist (PLANT_STORE_DOCS=1)
  -h, --help          show this help
`;

/** How long the store may take to close after the last request. */
const exitGraceMs = 1000;

/** @throws {UsageError} if a setting is invalid. */
function parse(args: string[]) {
  const { values } = parseCommandLine(args, settings);
  const given = (name: Exclude<SettingName, 'docs'>): Setting => readSetting(name, values[name]);
  const docs = readSetting('docs', values.docs === true ? '1' : undefined);
  const [basePath, corsOrigin] = [given('base-path'), given('cors-origin')];
  const origins = corsOrigin.text === '' ? [] : corsOrigin.text.split(',').map((origin) => origin.trim());
  withUsageError(basePath.source, () => {
    checkBasePath(basePath.text);
  });
  return {
    address: { host: given('host').text, port: parseInteger(given('port'), 65_535), flags: '--port or --host' },
    storage: parseStorage(given('storage'), ['sqlite', 'postgres', 'memory']),
    tokens: resolve(given('tokens').text),
    basePath: basePath.text,
    corsOrigin: withUsageError(corsOrigin.source, () => parseCorsOrigin(origins)),
    trustedProxies: parseInteger(given('trusted-proxies'), 99),
    drainDelayMs: parseInteger(given('drain-delay'), 3600) * 1000,
    admin: parseAdminAddress(given('admin-port'), given('admin-host')),
    log: { format: parseWord(given('log'), logFormats), level: parseWord(given('log-level'), logLevels) },
    /** The flag or variable that enables the web page; `undefined` if the page is disabled. */
    docs: parseWord(docs, ['0', '1']) === '1' ? docs.source : undefined,
  };
}

type Config = ReturnType<typeof parse>;

function parseAdminAddress(port: Setting, { text, source }: Setting): Address | undefined {
  if (port.text === '' && text !== '') throw new UsageError(`${source} needs --admin-port.`);
  if (port.text === '') return undefined;
  const host = text === '' ? '127.0.0.1' : text;
  return { host, port: parseInteger(port, 65_535), flags: '--admin-port or --admin-host' };
}

export async function run(args: string[]): Promise<number> {
  const config = parse(args);
  const { storage: location, tokens, basePath, corsOrigin, trustedProxies } = config;
  refuseRoot(tokens, ...filesOf(location));
  // By default, this signal opens the debugger of Node.js. Log rotation scripts for nginx send it.
  process.on('SIGUSR1', () => undefined);
  const log = new Log(config.log);
  const addDocs = config.docs === undefined ? undefined : createDocs(config.docs, basePath);
  const isFirstStart = !hasTokenFile(tokens);
  if (!isFirstStart) warnOfNewDatabase(config, log);
  const storage = await openStorage(location);
  if (isFirstStart) await createFirstToken(tokens);
  const grants = new TokenGrants(tokens, log.error.bind(log));
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
  const adminUrl = config.admin && (await listen(createAdminServer(server, readiness), config.admin));
  const url = await listen(server, config.address);
  await runInterruptibly(async (signal) => {
    const signaled = once(signal, 'abort');
    announce(config, grants, url, adminUrl);
    log.info('listening', { version, url, adminUrl, storage: location.place });
    void readiness.storageProblem();
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
