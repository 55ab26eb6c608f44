/**
 * Checks an option that is an integer.
 *
 * @throws {TypeError} naming the option and its range.
 */
export function checkIntegerOption(name: string, value: number, min: number, max: number = Number.MAX_SAFE_INTEGER): void {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return;
  const range = max === Number.MAX_SAFE_INTEGER ? `of ${min} or more` : `from ${min} to ${max}`;
  throw new TypeError(`${name} must be an integer ${range}`);
}

/**
 * Checks an option that is a function.
 *
 * @throws {TypeError} naming the option.
 */
export function checkFunctionOption(name: string, value: unknown): void {
  if (typeof value !== 'function') throw new TypeError(`${name} must be a function`);
}
