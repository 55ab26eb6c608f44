import { printable } from './output/printable.ts';

const prefix = 'PLANT_STORE_';

/**
 * The settings that commands read from a flag or from the environment: the options for `parseArgs`, the default, and
 * the variable that hosting platforms set, if any.
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
  'admin-host': { type: 'string', fallback: '127.0.0.1' },
  log: { type: 'string', fallback: '' },
  'log-level': { type: 'string', fallback: 'info' },
  docs: { type: 'boolean', fallback: '0' },
} as const;

export type SettingName = keyof typeof settings;

/** The environment variables of `check`. They do not set the defaults of flags with the same names. */
export const checkVariables = { tokens: 'PLANT_STORE_CHECK_TOKENS', readOnly: 'PLANT_STORE_CHECK_READ_ONLY_TOKEN' };

/**
 * Patterns for the names and values of the variables that Kubernetes sets for a service named `plant-store`:
 * https://kubernetes.io/docs/tutorials/services/connect-applications-service/
 */
const serviceName = /_SERVICE_(?:HOST|PORT)|_PORT_\d+_(?:TCP|UDP|SCTP)/;
const serviceAddress = /^(?:tcp|udp|sctp):\/\//;

/** Returns the name of the environment variable that sets the default of a flag, such as `base-path`. */
export function variableOf(name: string): string {
  return prefix + name.toUpperCase().replaceAll('-', '_');
}

/** Returns the value of an environment variable. Ignores an empty value and the address of a Kubernetes service. */
export function readVariable(name: string): string | undefined {
  const text = process.env[name];
  return text === undefined || text === '' || serviceAddress.test(text) ? undefined : text;
}

/** Returns a warning for each environment variable that has Plant Store's prefix but an unknown name. */
export function variableWarnings(): string[] {
  const known = [...Object.keys(settings).map(variableOf), ...Object.values(checkVariables)];
  return Object.keys(process.env)
    .filter((name) => name.startsWith(prefix) && !known.includes(name) && !serviceName.test(name))
    .filter((name) => readVariable(name) !== undefined)
    .map((name) => `The environment variable ${printable(name)} is unknown and has no effect.`);
}
