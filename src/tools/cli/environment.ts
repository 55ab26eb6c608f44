import { closestName } from './closest-name.ts';
import { printable } from './output/printable.ts';

const prefix = 'PLANT_STORE_';

/** The environment variables of Plant Store, without their prefix. */
const ownNames = [
  'HOST',
  'PORT',
  'STORAGE',
  'TOKENS',
  'BASE_PATH',
  'CORS_ORIGIN',
  'TRUSTED_PROXIES',
  'ADMIN_PORT',
  'ADMIN_HOST',
  'LOG',
  'DOCS',
  'CHECK_TOKENS',
  'CHECK_READ_ONLY_TOKEN',
];

/**
 * The names and values of the variables that Kubernetes sets for each service. For a service named `plant-store`, it
 * sets `PLANT_STORE_SERVICE_HOST`, `PLANT_STORE_PORT=tcp://10.0.0.7:80` and others:
 * https://kubernetes.io/docs/tutorials/services/connect-applications-service/
 */
const serviceName = /_SERVICE_(?:HOST|PORT)|_PORT_\d+_(?:TCP|UDP|SCTP)/;
const serviceAddress = /^(?:tcp|udp|sctp):\/\//;

/** Returns the name of the environment variable that sets the default of a flag, such as `--base-path`. */
export function variableOf(flag: string): string {
  return prefix + flag.slice(2).toUpperCase().replaceAll('-', '_');
}

/**
 * Returns the value of an environment variable, or `undefined` if the variable is not set, is empty, or contains the
 * address of a Kubernetes service.
 */
export function readVariable(name: string): string | undefined {
  const text = process.env[name];
  return text === undefined || text === '' || serviceAddress.test(text) ? undefined : text;
}

/**
 * Returns a warning for each environment variable that has the prefix of Plant Store but is not one of its variables.
 * A mistyped name would otherwise have no effect without any message. `command` is the command that runs.
 */
export function variableWarnings(command: string): string[] {
  const names = Object.keys(process.env).filter((name) => {
    const isOwn = ownNames.includes(name.slice(prefix.length));
    return name.startsWith(prefix) && !isOwn && readVariable(name) !== undefined && !serviceName.test(name);
  });
  return names.map((name) => {
    const lowerCaseNames = ownNames.map((own) => own.toLowerCase());
    const closest = closestName(name.slice(prefix.length), lowerCaseNames)?.toUpperCase();
    const advice = closest === undefined ? `See plant-store ${command} --help.` : `Did you mean '${prefix}${closest}'?`;
    return `The environment variable ${printable(name)} is unknown and has no effect. ${advice}`;
  });
}
