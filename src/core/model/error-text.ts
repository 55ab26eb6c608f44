import { types } from 'node:util';

/** The maximum number of nested causes that are reported, not counting the error itself. */
const maxCauses = 5;

/**
 * Formats an error for a log. The result contains the stack and the codes of the error, then those of each cause. It
 * omits all other properties, because they can contain user data. For example, the `detail` of a PostgreSQL error
 * quotes the row, and the error of an HTTP client may contain request headers.
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

/**
 * Formats a thrown value without its causes. Never throws, even if the value is a Proxy, an error whose stack is not a
 * string, or an object that cannot be converted to a string.
 */
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

/**
 * Returns the codes of a system error, a node:sqlite error or a PostgreSQL error in parentheses. Returns an empty
 * string if the error has no code.
 */
function codesOf(error: Error): string {
  const properties = error as Error & Readonly<Record<string, unknown>>;
  const codes = ['code', 'errcode'].flatMap((name) => {
    const value = properties[name];
    return typeof value === 'string' || typeof value === 'number' ? [`${name} ${value}`] : [];
  });
  return codes.length === 0 ? '' : ` (${codes.join(', ')})`;
}

/**
 * Checks whether a value is an Error, including an Error from another VM context. For example, in Jest, system errors
 * are not `instanceof Error`.
 */
function isError(error: unknown): error is Error {
  return error instanceof Error || types.isNativeError(error);
}
