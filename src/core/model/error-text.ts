import { types } from 'node:util';

/** The maximum number of nested causes that are reported, not counting the error itself. */
const maxCauses = 5;

/**
 * Formats an error for a log. The result contains the error's stack and codes, followed by the stack and codes of each
 * cause. All other properties of an error are omitted, because they can contain user data. For example, the `detail` of
 * a PostgreSQL error quotes the row, and an HTTP client's error can contain request headers.
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
 * Returns an error's codes in parentheses, or an empty string if the error has no code. System errors, node:sqlite
 * errors and PostgreSQL errors have codes.
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
 * Checks whether a value is an Error. Also recognizes an Error from another VM context. For example, system errors in
 * Jest are not `instanceof Error`.
 */
function isError(error: unknown): error is Error {
  return error instanceof Error || types.isNativeError(error);
}
