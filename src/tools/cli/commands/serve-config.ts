import { parseCorsOrigin } from '../../../http/cors.ts';
import { checkBasePath } from '../../../http/options.ts';
import { parseCommandLine, setting, UsageError } from '../command.ts';
import type { Setting } from '../command.ts';
import { settings } from '../environment.ts';
import type { SettingName } from '../environment.ts';
import { logFormats, logLevels } from '../output/log.ts';
import type { LogOptions } from '../output/log.ts';

interface Address {
  readonly host: string;
  readonly port: number;
}

export interface ServeConfig {
  readonly address: Address;
  readonly storage: Setting;
  readonly tokens: string;
  readonly basePath: string;
  readonly corsOrigin: readonly string[];
  readonly trustedProxies: number;
  readonly admin: Address | undefined;
  readonly log: LogOptions;
  /** The source of the setting that enables the web page, if it is enabled. */
  readonly docs: string | undefined;
}

/** @throws {UsageError} if a setting is invalid. */
export function parseServeConfig(args: string[]): ServeConfig {
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
  const log = given('log');
  const format = log.text === '' ? (process.stderr.isTTY ? 'pretty' : 'json') : parseWord(log, logFormats);
  const docs = setting('docs', values.docs === true ? '1' : undefined);
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
    log: { format, level: parseWord(given('log-level'), logLevels) },
    docs: parseWord(docs, ['0', '1']) === '1' ? docs.source : undefined,
  };
}

function parseInteger({ text, source }: Setting, max: number): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= max) return Number(text);
  throw new UsageError(`${source} must be 0 to ${max}, not '${text}'.`);
}

function parseWord<Word extends string>({ text, source }: Setting, words: readonly Word[]): Word {
  const word = words.find((known) => known === text);
  if (word === undefined) throw new UsageError(`${source} must be ${words.join(' or ')}, not '${text}'.`);
  return word;
}

/** Parses an option of the service. An error message names the setting instead of the option, and quotes its value. */
function parseOption<T>(option: string, { text, source }: Setting, parse: (text: string) => T): T {
  try {
    return parse(text);
  } catch (error) {
    throw new UsageError(`${(error as Error).message.replace(option, source)}, not '${text}'.`, { cause: error });
  }
}
