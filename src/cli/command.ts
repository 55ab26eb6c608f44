import { parseArgs } from 'node:util';
import { closestName } from './closest-name.ts';

/** The error for an invalid command line. The message says what to change, and the exit code is 2. */
export class UsageError extends Error {
  override readonly name: string = 'UsageError';
}

/** The error for arguments that a command does not support. The command line adds where the command's help is. */
export class ArgumentError extends UsageError {
  override readonly name = 'ArgumentError';
}

/** A command of the command line. */
export interface Command {
  /** The text that `--help` prints. */
  readonly help: string;
  /** Runs the command. Resolves with the exit code. */
  readonly run: (args: string[]) => Promise<number>;
}

/** The flags of a command. The value of each is a string or a boolean. */
type Flags = Readonly<
  Record<string, { readonly type: 'string'; readonly multiple?: true } | { readonly type: 'boolean' }>
>;

type FlagValue<Flag> = Flag extends { type: 'boolean' } ? boolean : Flag extends { multiple: true } ? string[] : string;

interface CommandLine<F extends Flags> {
  readonly values: { readonly [Name in keyof F]?: FlagValue<F[Name]> };
  readonly positionals: string[];
}

/**
 * Parses a command's arguments with node:util's `parseArgs` in strict mode. Accepts at most
 * `maxPositionals` positional arguments.
 *
 * @throws {UsageError} if the command does not support an argument; an {@link ArgumentError} if the message does not
 *   suggest a similar flag.
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
    // The other sentences of the message contain only hints.
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

/** The value of a setting, and the flag or environment variable that set it, for messages. */
export interface Setting {
  readonly text: string;
  readonly source: string;
}

/**
 * Returns a setting: the flag, or else the environment variable if it is not empty, or else the fallback.
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
 * Returns the flag or the variable that turns a feature on, or `undefined` if neither does.
 *
 * @throws {UsageError} if the variable is neither empty, `0` nor `1`.
 */
export function switchSetting(name: string, flag: boolean | undefined, variable: string): Setting | undefined {
  if (flag === true) return { text: '1', source: name };
  const { text } = setting(name, undefined, variable, '0');
  if (text !== '0' && text !== '1') throw new UsageError(`${variable} must be 0 or 1, not '${text}'.`);
  return text === '1' ? { text, source: variable } : undefined;
}

/** Returns the path of the tokens file, from a setting that all commands share. */
export function tokensSetting(flag: string | undefined): string {
  return setting('--tokens', flag, 'PLANT_STORE_TOKENS', 'tokens.json').text;
}
