/**
 * Checks that `options` is an object that contains only known options.
 *
 * @param owner the class or function that has these options, such as `PlantStore`
 * @param known an object whose keys are the names of all options
 * @throws {TypeError} if `options` is not an object, or if an option is unknown. The error message for an unknown
 *   option names the option and lists the known options.
 */
export function checkOptionNames(owner: string, options: unknown, known: Readonly<Record<string, true>>): void {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError(`The options of ${owner} must be an object`);
  }
  for (const name in options) {
    if (Object.hasOwn(known, name)) continue;
    throw new TypeError(`${owner} has no option ${name}. Its options are ${Object.keys(known).join(', ')}`);
  }
}

/**
 * Checks that an option is an integer from `min` to `max`.
 *
 * @throws {TypeError} if the option has any other value; the message names the option and its range.
 */
export function checkIntegerOption(
  name: string,
  value: number,
  min: number,
  max: number = Number.MAX_SAFE_INTEGER,
): void {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return;
  const range = max === Number.MAX_SAFE_INTEGER ? `of ${min} or more` : `from ${min} to ${max}`;
  throw new TypeError(`${name} must be an integer ${range}`);
}

/**
 * Checks that an option is `true` or `false`.
 *
 * @throws {TypeError} if the option has any other value; the message names the option.
 */
export function checkBooleanOption(name: string, value: unknown): void {
  if (typeof value !== 'boolean') throw new TypeError(`${name} must be true or false`);
}

/**
 * Checks that an option is a function.
 *
 * @throws {TypeError} if the option is not a function; the message names the option.
 */
export function checkFunctionOption(name: string, value: unknown): void {
  if (typeof value !== 'function') throw new TypeError(`${name} must be a function`);
}

/**
 * Checks that a value has methods. Objects from another copy of this package have them too, but are not `instanceof`.
 *
 * @throws {TypeError} if a method is missing; the message names the argument and the method.
 */
export function checkMethods(name: string, type: string, value: unknown, methods: readonly string[]): void {
  const object = (value ?? {}) as Record<string, unknown>;
  const missing = methods.find((method) => typeof object[method] !== 'function');
  if (missing !== undefined) throw new TypeError(`${name} must be ${type}: it has no ${missing}`);
}
