import { parseArgs } from 'node:util';

/** A command was called wrongly: exit code 2 and the message, one sentence. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** A command of the command line. */
export interface Command {
  /** What `--help` prints. */
  readonly help: string;
  /** Resolves with the exit code. */
  readonly run: (args: string[]) => Promise<number>;
}

/** The flags of a command: those that take a text, and those that are there or not. */
type Flags = Readonly<Record<string, { readonly type: 'string'; readonly multiple?: true } | { readonly type: 'boolean' }>>;

type FlagValue<Flag> = Flag extends { type: 'boolean' } ? boolean : Flag extends { multiple: true } ? string[] : string;

interface CommandLine<F extends Flags> {
  readonly values: { readonly [Name in keyof F]?: FlagValue<F[Name]> };
  readonly positionals: string[];
}

/**
 * Parses a command's arguments by node:util's `parseArgs`, strictly. At most `maxPositionals`
 * arguments that are no flags are taken.
 *
 * @throws {UsageError} for what the command does not take.
 */
export function parseCommandLine<const F extends Flags>(args: string[], flags: F, maxPositionals = 0): CommandLine<F> {
  const { values, positionals } = parse(args, flags);
  const extra = positionals[maxPositionals];
  if (extra !== undefined) throw new UsageError(`Unexpected argument '${extra}'.`);
  return { values: values as CommandLine<F>['values'], positionals };
}

function parse(args: string[], options: Flags): ReturnType<typeof parseArgs> {
  try {
    return parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    // Node goes on with hints in further sentences.
    const [sentence = ''] = (error as Error).message.split(/\. |\n/);
    throw new UsageError(`${sentence.replace(/\.$/, '')}.`, { cause: error });
  }
}

/** The text of a setting, and what it was set by, for messages. */
export interface Setting {
  readonly text: string;
  readonly source: string;
}

/**
 * A setting: the flag, else the environment variable unless it is empty, else the fallback.
 *
 * @throws {UsageError} for an empty flag: most likely a shell variable that is not set.
 */
export function setting(name: string, flag: string | undefined, variable: string, fallback: string): Setting {
  if (flag === '') throw new UsageError(`${name} must not be empty.`);
  const fromEnvironment = process.env[variable];
  if (flag !== undefined) return { text: flag, source: name };
  return fromEnvironment === undefined || fromEnvironment === ''
    ? { text: fallback, source: name }
    : { text: fromEnvironment, source: variable };
}

/** The setting for the tokens file, which all commands share. */
export function tokensSetting(flag: string | undefined): string {
  return setting('--tokens', flag, 'PLANT_STORE_TOKENS', 'tokens.json').text;
}
