import { createRequire } from 'node:module';
import { parseArgs } from 'node:util';
import type { ParseArgsOptionsConfig } from 'node:util';
import { UsageError } from './errors.ts';
import type { LogFormat } from './log.ts';
import { printable } from './process.ts';
import { commands, flags, flagsOf, prefix, variablesOf } from './table.ts';
import type { Command, CommandName, Flag, FlagName } from './table.ts';

const require = createRequire(import.meta.url);

export const version: string = (require('../../package.json') as { version: string }).version;

/** The value of a flag. `source` is the name of the flag or the environment variable, for use in error messages. */
export interface Setting<T = string> {
  readonly value: T;
  readonly source: string;
}

type Value<F> =
  | (F extends { absent: string } ? undefined : never)
  | (F extends { max: number }
      ? number
      : F extends { words: readonly (infer Word)[] }
        ? Word
        : F extends { value: string }
          ? string
          : boolean);

export type Settings<Name extends CommandName> = {
  readonly [F in FlagName & keyof (typeof commands)[Name]['flags']]: Setting<Value<(typeof flags)[F]>>;
};

const rows: Readonly<Record<FlagName, Flag>> = flags;

/**
 * Reads the flags, the environment variables and the operand of a command. The operand is '' if the command has none.
 *
 * @throws {UsageError} if an argument or a variable is invalid.
 */
export function readCommandLine<Name extends CommandName>(
  name: Name,
  args: string[],
): { settings: Settings<Name>; operand: string; warnings: string[] } {
  const { values, positionals } = parse(name, args);
  const { operand }: Command = commands[name];
  const [given = ''] = positionals;
  const superfluous = positionals[operand === undefined ? 0 : 1];
  if (superfluous !== undefined) {
    const removal = isFileName(superfluous) ? `: remove ${superfluous}` : '';
    const advice = name === 'import' ? ': import reads standard input, as in < plants.ndjson' : removal;
    throw new UsageError(`There are too many arguments${advice}.`);
  }
  if (operand !== undefined && given === '') throw new UsageError(`${operand} is required.`);
  if (operand !== undefined) requireCleanText({ value: given, source: operand });
  const warnings = unknownVariables();
  const settings = flagsOf(name).map((flag) => [flag, readSetting(flag, values[flag], warnings)]);
  return { settings: Object.fromEntries(settings) as Settings<Name>, operand: given, warnings };
}

/** Error messages contain an argument only if it looks like a file name. Any other argument may be a password. */
export function isFileName(text: string): boolean {
  return /^[\w./-]+\.\w+$/.test(text);
}

function parse(name: CommandName, args: string[]) {
  const options: ParseArgsOptionsConfig = {};
  for (const flag of flagsOf(name)) options[flag] = { type: rows[flag].value === undefined ? 'boolean' : 'string' };
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    return { values: values as Partial<Record<string, string | boolean>>, positionals };
  } catch (error) {
    // The rest of the message explains how to write an argument that starts with a dash.
    const [problem = ''] = (error as Error).message.split(/\. To specify a positional|\.\nDid you forget/);
    const known = Object.keys(options).map((flag) => `--${flag}`);
    throw new UsageError(`${printable(problem).replace(/\.$/, '')}. The options are ${known.join(', ')} and --help.`);
  }
}

/** Returns the value of the flag, of its first variable that is set, or the default. */
function readSetting(name: FlagName, given: string | boolean | undefined, warnings: string[]): Setting<unknown> {
  const { value, absent, fallback = value === undefined ? 'false' : undefined } = rows[name];
  const source = `--${name}`;
  const found = given === undefined ? readVariable(name, warnings) : { value: String(given), source };
  const setting = found ?? (fallback === undefined ? undefined : { value: fallback, source });
  if (setting !== undefined) return { value: parseValue(rows[name], setting), source: setting.source };
  if (absent === undefined) throw new UsageError(`${source} ${value} is required.`);
  return { value: undefined, source };
}

function parseValue({ value: placeholder, max, words }: Flag, setting: Setting): unknown {
  const { value, source } = setting;
  requireCleanText(setting);
  if (placeholder === undefined) return ['1', 'true'].includes(parseWord(setting, ['1', 'true', '0', 'false']));
  if (words !== undefined) return parseWord(setting, words);
  if (max === undefined) return value;
  if (!/^\d{1,5}$/.test(value) || Number(value) > max) {
    throw new UsageError(`${source} must be an integer from 0 to ${max}.`);
  }
  return Number(value);
}

/** The message does not contain the text, which may be a password. */
function requireCleanText({ value, source }: Setting): void {
  // An empty value probably means that a shell variable is not set.
  if (value === '') throw new UsageError(`${source} must not be empty.`);
  // Node.js replaces bytes that are not UTF-8 with U+FFFD, so different texts would become the same.
  if (value.includes('\uFFFD') || !value.isWellFormed()) throw new UsageError(`${source} is not valid UTF-8.`);
  const [control] = /\p{Cc}/u.exec(value) ?? [];
  const advice = control === '\r' ? ': use a file with Unix line endings' : '';
  if (control !== undefined) {
    throw new UsageError(`${source} contains the control character ${printable(control)}${advice}.`);
  }
  const end = /^\uFEFF|\uFEFF$/.test(value) ? 'U+FEFF, a byte order mark' : 'a space';
  if (value.trim() !== value) throw new UsageError(`${source} starts or ends with ${end}.`);
}

export function parseWord<Word extends string>({ value, source }: Setting, words: readonly Word[]): Word {
  const word = words.find((known) => known === value);
  if (word !== undefined) return word;
  throw new UsageError(`${source} must be ${words.slice(0, -1).join(', ')} or ${words.at(-1)}.`);
}

export const defaultLogFormat: LogFormat = process.stderr.isTTY ? 'pretty' : 'json';

/** Returns the format of the server's log, even if an argument or a variable is invalid. */
export function readLogFormat(args: string[]): LogFormat {
  const { values } = parseArgs({ args, options: { log: { type: 'string' } }, strict: false });
  const given = values.log ?? readVariable('log', [])?.value;
  return flags.log.words.find((word) => word === given) ?? defaultLogFormat;
}

/** Loads a module of an optional package. `source` is the flag or the variable that requires the package. */
export function loadOptional(path: string, source: string): unknown {
  try {
    return require(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    const [name = ''] = path.split('/');
    const command = `npm install ${name}, or npm install --global ${name} if plant-store is installed globally`;
    throw new UsageError(`${source} needs the package ${name}. Run ${command}.`, { cause: error });
  }
}

/**
 * Returns the first environment variable of a flag that has a value. Ignores the addresses that Kubernetes sets for a
 * service named `plant-store`: https://kubernetes.io/docs/tutorials/services/connect-applications-service/
 */
function readVariable(name: FlagName, warnings: string[]): Setting | undefined {
  const variables = variablesOf(name).map((source) => ({ value: process.env[source] ?? '', source }));
  const foreign = variables.filter(({ value }) => /^(?:tcp|udp|sctp):\/\//.test(value));
  for (const { source } of foreign) {
    warnings.push(`${source} is ignored, because its value is the address of a Kubernetes service.`);
  }
  const [first, second] = variables.filter((variable) => variable.value !== '' && !foreign.includes(variable));
  if (first !== undefined && second !== undefined && second.value !== first.value) {
    warnings.push(`${first.source} and ${second.source} are set: ${first.source} is used.`);
  }
  return first;
}

/** Returns a warning for each unknown variable with Plant Store's prefix, except those that Kubernetes sets. */
function unknownVariables(): string[] {
  const known = (Object.keys(flags) as FlagName[]).flatMap(variablesOf);
  return Object.keys(process.env)
    .filter((name) => name.startsWith(prefix) && !known.includes(name))
    .filter((name) => !/_SERVICE_(?:HOST|PORT)|_PORT_\d+_(?:TCP|UDP|SCTP)/.test(name))
    .map((name) => `The environment variable ${name} is unknown and has no effect.`);
}
