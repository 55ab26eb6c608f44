import { readCommandLine, readLogFormat, version } from './command-line.ts';
import type { Settings } from './command-line.ts';
import { backUp, restore } from './commands/backup.ts';
import * as serve from './commands/serve.ts';
import * as token from './commands/token.ts';
import * as transfer from './commands/transfer.ts';
import { commit } from './commit.ts';
import { describeError, isWrongSetting, UsageError } from './errors.ts';
import { jsonError } from './log.ts';
import { ClosedPipeError, exitCodeOf, print, tell } from './process.ts';
import { commandHelp, commandNames, help } from './table.ts';
import type { CommandName } from './table.ts';

const runs: { readonly [Name in CommandName]: (settings: Settings<Name>, operand: string) => Promise<number> } = {
  serve: serve.run,
  'token create': token.create,
  'token list': token.list,
  'token revoke': token.revoke,
  copy: transfer.copy,
  export: transfer.exportPlants,
  import: transfer.importPlants,
  backup: backUp,
  restore,
};

/**
 * Resolves with the exit code: 0 on success, 1 after a failure, and 2 after a {@link UsageError} or without a command.
 * If a signal interrupts a command other than `serve`, the code is 128 plus its number. A closed standard output counts
 * as SIGPIPE.
 */
export async function run(args: string[]): Promise<number> {
  // Without these listeners, a closed output pipe would end the process.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  try {
    return await dispatch(args);
  } catch (error) {
    if (error instanceof ClosedPipeError) return exitCodeOf('SIGPIPE');
    const isMisuse = error instanceof UsageError;
    warn(args, isMisuse ? error.message : describeError(error));
    // A supervisor must not restart a server that needs another setting, file or database.
    return isMisuse || (args[0] === 'serve' && isWrongSetting(error)) ? 2 : 1;
  }
}

async function dispatch(args: string[]): Promise<number> {
  const [first, second] = args;
  if (first === undefined) {
    // A script might pass an unset variable as the command, so the exit code must report a failure.
    process.stderr.write(help());
    return 2;
  }
  if (['--version', '-v'].includes(first)) {
    return show(`${version} (commit ${commit || 'unknown: not built, or built without git'})\n`);
  }
  if (['--help', '-h'].includes(first)) return show(help());
  const name = commandNames.find((each) => each === first || each === `${first} ${second}`);
  // `plant-store token --help` shows the help of all token commands.
  const similar = name === undefined ? commandNames.filter((each) => each.startsWith(`${first} `)) : [name];
  const flags = args.slice(0, args.includes('--') ? args.indexOf('--') : undefined);
  if (similar.length > 0 && (flags.includes('--help') || flags.includes('-h'))) {
    return show(similar.map(commandHelp).join('\n'));
  }
  if (name === undefined) {
    const choices = similar.length > 0 ? similar : commandNames;
    const given = similar.length > 0 && second !== undefined ? `${first} ${second}` : first;
    // A longer or other argument may be a password.
    let problem = /^[\w -]{1,20}$/.test(given) ? `There is no command '${given}'` : 'There is no such command';
    if (first.startsWith('-')) problem = 'The command must come before the options';
    throw new UsageError(`${problem}. The commands are ${choices.join(', ')}.`);
  }
  // By default, `ps` shows the arguments, which may contain a password, to all users on this machine.
  process.title = `plant-store ${name}`;
  const { settings, operand, warnings } = readCommandLine(name, args.slice(name.split(' ').length));
  for (const warning of warnings) warn(args, warning);
  return (runs[name] as (settings: object, operand: string) => Promise<number>)(settings, operand);
}

async function show(text: string): Promise<number> {
  await print(text);
  return 0;
}

/** Writes a line to standard error, for `serve` in the format of its log. */
function warn([name, ...args]: string[], text: string): void {
  if (name === 'serve' && readLogFormat(args) === 'json') process.stderr.write(jsonError(text));
  else tell(`plant-store: ${text}`);
}
