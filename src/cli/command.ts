import { parseArgs } from 'node:util';
import { closestName } from './closest-name.ts';

/** Thrown if the command line is invalid. The message says what to change, and the process exits with code 2. */
export class UsageError extends Error {
  override readonly name: string = 'UsageError';
}

/**
 * Thrown if a command does not support an argument. `run` extends the message with a reference to the help text of the
 * command.
 */
export class ArgumentError extends UsageError {
  override readonly name = 'ArgumentError';
}

/** A command of `plant-store`, such as `serve`. */
export interface Command {
  /** The text that `--help` prints. */
  readonly help: string;
  /** Runs the command with the arguments that follow its name. Resolves with the exit code. */
  readonly run: (args: string[]) => Promise<number>;
}

/** The flags of a command, in the format that `parseArgs` of node:util requires for its `options`. */
type Flags = Readonly<
  Record<string, { readonly type: 'string'; readonly multiple?: true } | { readonly type: 'boolean' }>
>;

type FlagValue<Flag> = Flag extends { type: 'boolean' } ? boolean : Flag extends { multiple: true } ? string[] : string;

interface CommandLine<F extends Flags> {
  readonly values: { readonly [Name in keyof F]?: FlagValue<F[Name]> };
  readonly positionals: string[];
}

/**
 * Parses a command's arguments with `parseArgs` of node:util in strict mode. Accepts at most `maxPositionals`
 * positional arguments.
 *
 * @throws {UsageError} if an argument is invalid and a similar flag exists. The message suggests that flag.
 * @throws {ArgumentError} if an argument is invalid and no similar flag exists.
 */
export function parseCommandLine<const F extends Flags>(args: string[], flags: F, maxPositionals = 0): CommandLine<F> {
  const { values, positionals } = parse(args, flags);
  const extra = positionals[maxPositionals];
  if (extra !== undefined) throw new ArgumentError(`Unexpected argument '${extra}'.`);
  return { values: values as CommandLine<F>['values'], positionals };
}

function parse(args: string[], options: Flags): ReturnType<typeof parseArgs> {
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    // The first sentence of Node's message describes the error. The other sentences are only hints.
    const [first = ''] = (error as Error).message.split(/\. |\n/);
    const sentence = `${first.replace(/\.$/, '')}.`;
    const flag = closestName(/^Unknown option '--(.+)'\.$/.exec(sentence)?.[1] ?? '', [
      ...Object.keys(options),
      'help',
    ]);
    if (flag === undefined) throw new ArgumentError(sentence, { cause: error });
    throw new UsageError(`${sentence} Did you mean '--${flag}'?`, { cause: error });
  }
}

/** The value of a setting. `source` is the name of its flag or environment variable, for use in error messages. */
export interface Setting {
  readonly text: string;
  readonly source: string;
}

/**
 * Returns a setting. The value is the flag if it is given, otherwise the environment variable if it is not empty, and
 * otherwise the fallback.
 *
 * @throws {UsageError} if the flag is empty, which most likely means that a shell variable is not set.
 */
export function setting(name: string, flag: string | undefined, variable: string, fallback: string): Setting {
  if (flag === '') throw new UsageError(`${name} must not be empty.`);
  const fromEnvironment = process.env[variable];
  if (flag !== undefined) return { text: flag, source: name };
  return fromEnvironment === undefined || fromEnvironment === ''
    ? { text: fallback, source: name }
    : { text: fromEnvironment, source: variable };
}

/**
 * Returns the setting that enables a feature: the flag if it is given, or the environment variable if its value is `1`.
 * Returns `undefined` if neither of them enables the feature.
 *
 * @throws {UsageError} if the value of the variable is not `0`, `1` or an empty string.
 */
export function switchSetting(name: string, flag: boolean | undefined, variable: string): Setting | undefined {
  if (flag === true) return { text: '1', source: name };
  const { text } = setting(name, undefined, variable, '0');
  if (text !== '0' && text !== '1') throw new UsageError(`${variable} must be 0 or 1, not '${text}'.`);
  return text === '1' ? { text, source: variable } : undefined;
}

/** Returns the path of the tokens file. All commands read it from the same flag and the same environment variable. */
export function tokensSetting(flag: string | undefined): string {
  return setting('--tokens', flag, 'PLANT_STORE_TOKENS', 'tokens.json').text;
}
