import { types } from 'node:util';

const maxCauses = 5;

/** Omits properties such as the `detail` of a PostgreSQL error, because they can contain user data. Never throws. */
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
    // The heading ends at a line break, because an empty message does not show where it ends.
    const lineEnd = stack.includes(message) ? stack.indexOf('\n', stack.indexOf(message) + message.length) : -1;
    const headingEnd = lineEnd === -1 ? stack.length : lineEnd;
    return stack.slice(0, headingEnd) + codesOf(error) + stack.slice(headingEnd);
  }
  return typeof error === 'object' && error !== null ? 'an object that is not an Error' : String(error);
}

function codesOf(error: Error): string {
  const properties = error as Error & Readonly<Record<string, unknown>>;
  const codes = ['code', 'errcode'].flatMap((name) => {
    const value = properties[name];
    return typeof value === 'string' || typeof value === 'number' ? [`${name} ${value}`] : [];
  });
  return codes.length === 0 ? '' : ` (${codes.join(', ')})`;
}

/** Also recognizes an Error of another realm, such as a system error in Jest, and a DOMException. */
export function isError(error: unknown): error is Error {
  return types.isNativeError(error) || typeof (error as Partial<Error> | null | undefined)?.stack === 'string';
}
