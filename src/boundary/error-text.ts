import { types } from 'node:util';

const maxCauses = 5;

/** Yields an error and up to five causes. */
export function* errorChain(error: unknown): Generator<unknown, void, undefined> {
  const found = [error];
  for (const each of found) {
    yield each;
    if (!isError(each)) continue;
    // If no address of a host accepts a connection, the error is an AggregateError without a message.
    const causes = each.message === '' && 'errors' in each ? (each.errors as unknown[]) : [each.cause];
    const known = causes.filter((cause) => cause !== undefined);
    found.push(...known.slice(0, maxCauses + 1 - found.length));
  }
}

/**
 * Returns the stacks and the codes of an error and its causes. Omits other properties, such as the `detail` of a
 * PostgreSQL error, because they can contain user data. Never throws.
 */
export function errorText(error: unknown): string {
  const texts: string[] = [];
  try {
    for (const each of errorChain(error)) texts.push(ownText(each));
  } catch {
    texts.push('an error that cannot be shown');
  }
  return texts.join('\nCaused by ');
}

function ownText(error: unknown): string {
  if (!isError(error)) {
    return typeof error === 'object' && error !== null ? 'an object that is not an Error' : String(error);
  }
  const stack = typeof error.stack === 'string' ? error.stack : `${error.name}: ${error.message}`;
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  const codes = Object.entries({ code, errcode }).flatMap(([name, value]) =>
    typeof value === 'string' || typeof value === 'number' ? [`${name} ${value}`] : [],
  );
  // The codes follow the message and precede the stack frames.
  return codes.length === 0 ? stack : stack.replace(/(?=\n +at )|$/, () => ` (${codes.join(', ')})`);
}

/** Also recognizes an Error of another realm, such as a system error in Jest, and a DOMException. */
export function isError(error: unknown): error is Error {
  return types.isNativeError(error) || typeof (error as Partial<Error> | null | undefined)?.stack === 'string';
}
