import { errorText } from './error-text.ts';

export function checkOptionNames(owner: string, options: unknown, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError(`The options of ${owner} must be an object`);
  }
  const unknown = unknownMember(options, known);
  if (unknown !== undefined) {
    throw new TypeError(`${owner} has no option ${unknown}. Its options are ${known.join(', ')}`);
  }
}

/**
 * Returns the name of an enumerable member that is not in `known`; `undefined` if there is none. Checks inherited
 * members too, except those that a library has added to every object.
 */
export function unknownMember(object: object, known: readonly string[]): string | undefined {
  for (const name in object) {
    if (!known.includes(name) && (Object.hasOwn(object, name) || !(name in Object.prototype))) return name;
  }
  return undefined;
}

export function checkIntegerOption(name: string, value: number, min: number, max?: number): void {
  if (Number.isSafeInteger(value) && value >= min && value <= (max ?? value)) return;
  const range = max === undefined ? `of ${min} or more` : `from ${min} to ${max}`;
  throw new TypeError(`${name} must be an integer ${range}`);
}

export function checkBooleanOption(name: string, value: unknown): void {
  if (typeof value !== 'boolean') throw new TypeError(`${name} must be true or false`);
}

export function checkFunctionOption(name: string, value: unknown): void {
  if (typeof value !== 'function') throw new TypeError(`${name} must be a function`);
}

/** Unlike `instanceof`, this check accepts an object from another copy of this package. */
export function checkMethods(name: string, type: string, value: unknown, methods: readonly string[]): void {
  const object = (value ?? {}) as Record<string, unknown>;
  const missing = methods.find((method) => typeof object[method] !== 'function');
  if (missing !== undefined) throw new TypeError(`${name} must be ${type}: it has no ${missing}`);
}

/** Wraps a reporting hook, such as `onError`. If the hook throws or rejects, prints the error and calls `fallback`. */
export function guardHook<Report extends unknown[]>(
  name: string,
  hook: (...report: Report) => unknown,
  fallback: (...report: Report) => void,
): (...report: Report) => void {
  return (...report) => {
    new Promise((resolve) => {
      resolve(hook(...report));
    }).catch((error: unknown) => {
      console.error(`${name} failed: ${errorText(error)}`);
      fallback(...report);
    });
  };
}
