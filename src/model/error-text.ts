import { types } from 'node:util';

/** The maximum number of nested causes of an error that are reported. */
const maxCauses = 5;

/**
 * Formats an error for a log: its stack and its codes, then those of its causes. Omits other properties, because they
 * can contain user data: PostgreSQL's `detail` quotes the row, and an HTTP client's error may contain its headers.
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
 * Describes a thrown value. Never throws, although the value can be a Proxy, an error whose stack is not a string, or
 * an object that cannot be converted to a string.
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

/** Returns the codes of a system, node:sqlite or PostgreSQL error. */
function codesOf(error: Error): string {
  const properties = error as Error & Readonly<Record<string, unknown>>;
  const codes = ['code', 'errcode'].flatMap((name) => {
    const value = properties[name];
    return typeof value === 'string' || typeof value === 'number' ? [`${name} ${value}`] : [];
  });
  return codes.length === 0 ? '' : ` (${codes.join(', ')})`;
}

/** Checks for an Error from any VM context. In Jest, for example, system errors are not `instanceof Error`. */
function isError(error: unknown): error is Error {
  return error instanceof Error || types.isNativeError(error);
}
