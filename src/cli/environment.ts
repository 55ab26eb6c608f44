import { UsageError } from './command.ts';

const prefix = 'PLANT_STORE_';

/**
 * The settings that commands read from a flag or from the environment. `type` is an option of `parseArgs`, `fallback`
 * is the default, and `platform` is the variable that hosting platforms set.
 */
export const settings = {
  host: { type: 'string', fallback: '127.0.0.1' },
  port: { type: 'string', fallback: '3000', platform: 'PORT' },
  storage: { type: 'string', fallback: 'sqlite:plants.db', platform: 'DATABASE_URL' },
  tokens: { type: 'string', fallback: 'tokens.json' },
  'base-path': { type: 'string', fallback: '' },
  'cors-origin': { type: 'string', fallback: '' },
  'trusted-proxies': { type: 'string', fallback: '0' },
  'admin-port': { type: 'string', fallback: '' },
  'admin-host': { type: 'string', fallback: '' },
  'drain-delay': { type: 'string', fallback: '0' },
  log: { type: 'string', fallback: (process.stderr.isTTY ? 'pretty' : 'json') as string },
  'log-level': { type: 'string', fallback: 'info' },
  docs: { type: 'boolean', fallback: '0' },
} as const;

export type SettingName = keyof typeof settings;

/** The value of a setting. `source` is the name of its flag or environment variable, for use in error messages. */
export interface Setting {
  readonly text: string;
  readonly source: string;
}

/** Returns the value of the flag, its environment variable, the hosting platform's variable, or the default. */
export function readSetting(name: SettingName, value: string | undefined): Setting {
  const source = `--${name}`;
  // An empty value probably means that a shell variable is not set.
  if (value === '') throw new UsageError(`${source} must not be empty.`);
  if (value !== undefined) return { text: value, source };
  const { fallback, platform = '' }: { fallback: string; platform?: string } = settings[name];
  for (const variable of [variableOf(name), platform]) {
    const text = readVariable(variable);
    if (text !== undefined) return { text, source: variable };
  }
  return { text: fallback, source };
}

export function parseInteger({ text, source }: Setting, max: number): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= max) return Number(text);
  throw new UsageError(`${source} must be 0 to ${max}.`);
}

export function parseWord<Word extends string>({ text, source }: Setting, words: readonly Word[]): Word {
  const word = words.find((known) => known === text);
  if (word === undefined) throw new UsageError(`${source} must be ${words.join(' or ')}.`);
  return word;
}

export function variableOf(name: string): string {
  return prefix + name.toUpperCase().replaceAll('-', '_');
}

/**
 * Returns the value of an environment variable. Ignores an empty value, and the addresses that Kubernetes sets for a
 * service named `plant-store`: https://kubernetes.io/docs/tutorials/services/connect-applications-service/
 */
function readVariable(name: string): string | undefined {
  const text = process.env[name];
  return text === undefined || text === '' || /^(?:tcp|udp|sctp):\/\//.test(text) ? undefined : text;
}

/** Returns a warning for each unknown variable with Plant Store's prefix, except those that Kubernetes sets. */
export function variableWarnings(): string[] {
  const known = Object.keys(settings).map(variableOf);
  return Object.keys(process.env)
    .filter((name) => name.startsWith(prefix) && !known.includes(name))
    .filter((name) => !/_SERVICE_(?:HOST|PORT)|_PORT_\d+_(?:TCP|UDP|SCTP)/.test(name))
    .map((name) => `The environment variable ${name} is unknown and has no effect.`);
}
