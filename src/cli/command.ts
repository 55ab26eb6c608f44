import { parseArgs } from 'node:util';
import type { ParseArgsOptionsConfig } from 'node:util';

/** Thrown if a command cannot run as requested. The message says what to change. The process exits with code 2. */
export class UsageError extends Error {}

type CommandLine<F extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ options: F; allowPositionals: true }>
>;

export function parseCommandLine<const F extends ParseArgsOptionsConfig>(
  args: string[],
  options: F,
  maxPositionals = 0,
): CommandLine<F> {
  let parsed: CommandLine<F>;
  try {
    parsed = parseArgs({ args, options, allowPositionals: true });
  } catch (error) {
    // The rest of the message about an unknown option explains how to write a positional argument.
    const [problem = ''] = (error as Error).message.split('. To specify a positional');
    const flags = Object.keys(options).map((name) => `--${name}`);
    throw new UsageError(
      `${problem.replaceAll('\n', ' ').replace(/\.$/, '')}. The options are ${flags.join(', ')} and --help.`,
    );
  }
  // The message does not contain the argument, which may be a password.
  if (parsed.positionals.length > maxPositionals) throw new UsageError('There are too many arguments.');
  return parsed;
}

/** Turns an error of `parse` into a UsageError that names `source`, the flag or variable. */
export function withUsageError<T>(source: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new UsageError(`${source} is invalid: ${(error as Error).message}.`, { cause: error });
  }
}
