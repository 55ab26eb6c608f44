import { parseArgs } from 'node:util';
import type { ParseArgsOptionsConfig } from 'node:util';
import { readVariable, settings, variableOf } from './environment.ts';
import type { SettingName } from './environment.ts';

/** Thrown if the command line is invalid. The message says what to change, and the process exits with code 2. */
export class UsageError extends Error {}

type CommandLine<F extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ options: F; allowPositionals: true }>
>;

/** Accepts at most `maxPositionals` positional arguments. Throws a UsageError if an argument is invalid. */
export function parseCommandLine<const F extends ParseArgsOptionsConfig>(
  command: string,
  args: string[],
  options: F,
  maxPositionals = 0,
): CommandLine<F> {
  let parsed: CommandLine<F>;
  try {
    parsed = parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    throw new UsageError(describe(error as NodeJS.ErrnoException, Object.keys(options)), { cause: error });
  }
  const extra = parsed.positionals[maxPositionals];
  if (extra !== undefined) throw new UsageError(`Unexpected argument '${extra}'. See plant-store ${command} --help.`);
  return parsed;
}

function describe({ code, message }: NodeJS.ErrnoException, names: readonly string[]): string {
  const flag = /'(-[^' ]*)/.exec(message)?.[1] ?? '';
  if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
    return `Unknown option '${flag}'. The options are ${[...names, 'help'].map((name) => `--${name}`).join(', ')}.`;
  }
  if (message.includes('does not take')) return `${flag} must not have a value.`;
  return `${flag} needs a value. Write ${flag}=VALUE if the value begins with '-'.`;
}

/** The value of a setting. `source` is the name of its flag or environment variable, for use in error messages. */
export interface Setting {
  readonly text: string;
  readonly source: string;
}

/**
 * Returns a setting: the value of the flag, its environment variable, the hosting platform's variable, or the default.
 *
 * @throws {UsageError} if the flag is empty, because an empty value probably means that a shell variable is not set.
 */
export function setting(name: SettingName, value: string | undefined): Setting {
  const source = `--${name}`;
  if (value === '') throw new UsageError(`${source} must not be empty.`);
  if (value !== undefined) return { text: value, source };
  const { fallback, platform = '' }: { fallback: string; platform?: string } = settings[name];
  for (const variable of [variableOf(name), platform]) {
    const text = readVariable(variable);
    if (text !== undefined) return { text, source: variable };
  }
  return { text: fallback, source };
}
