import { parseArgs } from 'node:util';
import type { ParseArgsOptionsConfig } from 'node:util';
import { readVariable, settings, variableOf } from './environment.ts';
import type { SettingName } from './environment.ts';
import { suggestion } from './suggestion.ts';

/** Thrown if the command line is invalid. The message says what to change, and the process exits with code 2. */
export class UsageError extends Error {}

type CommandLine<F extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ options: F; allowPositionals: true }>
>;

/**
 * Parses the arguments of `command` with `parseArgs` of node:util in strict mode. Accepts at most `maxPositionals`
 * positional arguments.
 *
 * @throws {UsageError} if an argument is invalid. The message suggests a similar flag or the command's help.
 */
export function parseCommandLine<const F extends ParseArgsOptionsConfig>(
  command: string,
  args: string[],
  options: F,
  maxPositionals = 0,
): CommandLine<F> {
  const seeHelp = `See plant-store ${command} --help.`;
  let parsed: CommandLine<F>;
  try {
    parsed = parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    // The first sentence of Node's message describes the error. The other sentences are only hints.
    const [first = ''] = (error as Error).message.split(/\. |\n/);
    const sentence = `${first.replace(/\.$/, '')}.`;
    const unknown = /^Unknown option '--(.+)'\.$/.exec(sentence)?.[1] ?? '';
    const advice = suggestion(unknown, [...Object.keys(options), 'help'], seeHelp, (flag) => `--${flag}`);
    throw new UsageError(`${sentence} ${advice}`, { cause: error });
  }
  const extra = parsed.positionals[maxPositionals];
  if (extra !== undefined) throw new UsageError(`Unexpected argument '${extra}'. ${seeHelp}`);
  return parsed;
}

/** The value of a setting. `source` is the name of its flag or environment variable, for use in error messages. */
export interface Setting {
  readonly text: string;
  readonly source: string;
}

/**
 * Returns a setting. Uses the first of these values that is set: the value of the flag, its environment variable, the
 * hosting platform's variable, and the default.
 *
 * @throws {UsageError} if the value is empty, because an empty value probably means that a shell variable is not set.
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
