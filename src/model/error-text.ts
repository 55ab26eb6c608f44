import { types } from 'node:util';

/** How many causes of an error are reported. */
const maxCauses = 5;

/**
 * Formats an error for a log: its stack and its codes, then those of its causes. Omits other properties, because they
 * can contain user data: PostgreSQL's `detail` quotes the row, the error of an HTTP client its headers.
 */
export function errorText(error: unknown): string {
  const texts: string[] = [];
  let current = error;
  for (let depth = 0; depth <= maxCauses; depth++) {
    texts.push(ownText(current));
    const cause = causeOf(current);
    if (cause === undefined) break;
    current = cause;
  }
  return texts.join('\nCaused by ');
}

function causeOf(error: unknown): unknown {
  try {
    return isError(error) ? error.cause : undefined;
  } catch {
    return undefined;
  }
}

/** Anything can be thrown: a Proxy, an error whose stack is not a string, an object that cannot become a string. */
function ownText(error: unknown): string {
  try {
    return describe(error);
  } catch {
    return 'an error that cannot be shown';
  }
}

function describe(error: unknown): string {
  if (isError(error)) {
    const { message } = error;
    const stack = typeof error.stack === 'string' ? error.stack : `${error.name}: ${message}`;
    const headingEnd = stack.includes(message) ? stack.indexOf(message) + message.length : stack.length;
    return stack.slice(0, headingEnd) + codesOf(error) + stack.slice(headingEnd);
  }
  return typeof error === 'object' && error !== null ? 'an object that is not an Error' : String(error);
}

/** Returns the codes of an error of the system, of node:sqlite or of PostgreSQL. */
function codesOf(error: Error): string {
  const properties = error as Error & Readonly<Record<string, unknown>>;
  const codes = ['code', 'errcode'].flatMap((name) => {
    const value = properties[name];
    return typeof value === 'string' || typeof value === 'number' ? [`${name} ${value}`] : [];
  });
  return codes.length === 0 ? '' : ` (${codes.join(', ')})`;
}

/** Checks for an Error of any VM context: in Jest, for example, `instanceof Error` fails for system errors. */
function isError(error: unknown): error is Error {
  return error instanceof Error || types.isNativeError(error);
}
