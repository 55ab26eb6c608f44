import { checkBasePath } from '../../http/base-path.ts';
import { parseCorsOrigin } from '../../http/cors.ts';
import { parseCommandLine, setting, storageSetting, tokensSetting, UsageError } from './command.ts';
import type { Setting } from './command.ts';
import type { ListenAddress } from './listen.ts';
import { logFormats } from './output/log.ts';
import type { LogFormat } from './output/log.ts';

/** The text that `serve --help` prints. */
export const serveHelp = `Usage: plant-store serve [OPTIONS]

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

/** The settings of `serve`. */
export interface ServeConfig {
  readonly address: ListenAddress;
  readonly storage: Setting;
  readonly tokens: string;
  readonly basePath: string;
  readonly corsOrigin: readonly string[];
  readonly trustedProxies: number;
  /** The address of the admin port; `undefined` if the admin port is disabled. */
  readonly admin: ListenAddress | undefined;
  readonly log: LogFormat;
  readonly docs: Setting | undefined;
}

/**
 * Parses the arguments of `serve` and its environment variables.
 *
 * @throws {UsageError} if an argument or an environment variable is invalid.
 */
export function parseServeConfig(args: string[]): ServeConfig {
  const { values } = parseCommandLine(args, {
    host: { type: 'string' },
    port: { type: 'string' },
    storage: { type: 'string' },
    tokens: { type: 'string' },
    'base-path': { type: 'string' },
    'cors-origin': { type: 'string' },
    'trusted-proxies': { type: 'string' },
    'admin-port': { type: 'string' },
    'admin-host': { type: 'string' },
    log: { type: 'string' },
    docs: { type: 'boolean' },
  });
  type Flag = Exclude<keyof typeof values, 'docs'>;
  const given = (flag: Flag, fallback: string): Setting => setting(`--${flag}`, values[flag], fallback);
  return {
    address: parseAddress(given('host', '127.0.0.1'), given('port', '3000')),
    storage: storageSetting(values.storage),
    tokens: tokensSetting(values.tokens),
    basePath: parseBasePath(given('base-path', '')),
    corsOrigin: parseCorsOrigins(given('cors-origin', '')),
    trustedProxies: parseInteger(given('trusted-proxies', '0'), 99),
    admin: parseAdmin(given('admin-host', '127.0.0.1'), given('admin-port', ''), values['admin-host'] !== undefined),
    log: parseLogFormat(given('log', process.stderr.isTTY ? 'pretty' : 'json')),
    docs: parseSwitch(setting('--docs', values.docs === true ? '1' : undefined, '0')),
  };
}

function parseAddress(host: Setting, port: Setting): ListenAddress {
  return { host: host.text, port: parseInteger(port, 65_535) };
}

function parseAdmin(host: Setting, port: Setting, isHostGiven: boolean): ListenAddress | undefined {
  if (port.text !== '') return parseAddress(host, port);
  if (isHostGiven) throw new UsageError('--admin-host has no effect without --admin-port.');
  return undefined;
}

function parseInteger({ text, source }: Setting, max: number): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= max) return Number(text);
  throw new UsageError(`${source} must be 0 to ${max}, not '${text}'.`);
}

function parseBasePath({ text, source }: Setting): string {
  withSettingName('basePath', source, () => {
    checkBasePath(text);
  });
  return text;
}

function parseCorsOrigins({ text, source }: Setting): readonly string[] {
  const origins = text.split(',').map((origin) => origin.trim());
  return text === '' ? [] : withSettingName('corsOrigin', source, () => parseCorsOrigin(origins));
}

/** Runs the check of an option of the service. Its error names the setting instead of the option. */
function withSettingName<T>(option: string, source: string, check: () => T): T {
  try {
    return check();
  } catch (error) {
    throw new UsageError(`${(error as Error).message.replace(option, source)}.`, { cause: error });
  }
}

function parseLogFormat({ text, source }: Setting): LogFormat {
  const format = logFormats.find((known) => known === text);
  if (format === undefined) throw new UsageError(`${source} must be json, pretty or off, not '${text}'.`);
  return format;
}

/** Returns the setting if it enables its feature, and `undefined` if it does not. */
function parseSwitch(given: Setting): Setting | undefined {
  const { text, source } = given;
  if (text !== '0' && text !== '1') throw new UsageError(`${source} must be 0 or 1, not '${text}'.`);
  return text === '1' ? given : undefined;
}
