import { types } from 'node:util';

/** The maximum number of nested causes that are reported, not counting the error itself. */
const maxCauses = 5;

/**
 * Formats an error for a log: its stack and codes, followed by those of each cause. All other properties are omitted,
 * because they can contain user data. For example, the `detail` of a PostgreSQL error quotes the row. Never throws, even
 * if the value is a Proxy or cannot be converted to a string.
 */
export function errorText(error: unknown): string {
  const texts: string[] = [];
  let current = error;
  try {
    for (let depth = 0; depth <= maxCauses; depth++) {
      texts.push(ownText(current));
      if (!isError(current) || current.cause === undefined) break;
      current = current.cause;
    }
  } catch {
    texts.push('an error that cannot be shown');
  }
  return texts.join('\nCaused by ');
}

function ownText(error: unknown): string {
  if (isError(error)) {
    const { message } = error;
    const stack = typeof error.stack === 'string' ? error.stack : `${error.name}: ${message}`;
    const headingEnd = stack.includes(message) ? stack.indexOf(message) + message.length : stack.length;
    return stack.slice(0, headingEnd) + codesOf(error) + stack.slice(headingEnd);
  }
  return typeof error === 'object' && error !== null ? 'an object that is not an Error' : String(error);
}

/** Returns the codes of a system, node:sqlite or PostgreSQL error in parentheses. */
function codesOf(error: Error): string {
  const properties = error as Error & Readonly<Record<string, unknown>>;
  const codes = ['code', 'errcode'].flatMap((name) => {
    const value = properties[name];
    return typeof value === 'string' || typeof value === 'number' ? [`${name} ${value}`] : [];
  });
  return codes.length === 0 ? '' : ` (${codes.join(', ')})`;
}

/** Also recognizes an Error from another VM context, such as a system error in Jest. */
function isError(error: unknown): error is Error {
  return error instanceof Error || types.isNativeError(error);
}
