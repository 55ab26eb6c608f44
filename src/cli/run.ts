import { describeError } from './describe-error.ts';
import { UsageError } from './command.ts';
import * as backup from './commands/backup.ts';
import * as copy from './commands/copy.ts';
import * as exportPlants from './commands/export.ts';
import * as importPlants from './commands/import.ts';
import * as restore from './commands/restore.ts';
import * as serve from './commands/serve.ts';
import * as token from './commands/token.ts';
import { variableWarnings } from './environment.ts';
import { version } from './package.ts';

interface Command {
  readonly help: string;
  readonly run: (args: string[]) => Promise<number>;
}

const modules = { serve, token, copy, export: exportPlants, import: importPlants, backup, restore };
const commands: ReadonlyMap<string, Command> = new Map(Object.entries(modules));

const help = `Usage: plant-store COMMAND [OPTIONS]

Stores a collection of plants for each user.

Commands:
  serve    run the HTTP service
  token    create, list and revoke bearer tokens
  copy     copy all plants from one storage to another
  export   write all plants to standard output, one JSON object per line
  import   create plants from standard input, one JSON object per line
  backup   copy an SQLite file while a server uses it
  restore  copy a backup to a new SQLite file

Options:
  -h, --help      show this help, or the help of a command
  -v, --version   show the version

In the help of a command, an environment variable in parentheses sets the
default of its option.
`;

/**
 * Resolves with the exit code: 0 on success, 1 after a failure, 2 after a {@link UsageError}, and 128 plus the number
 * of the signal if a command other than `serve` was interrupted.
 */
export async function run(args: string[]): Promise<number> {
  // Without these listeners, a closed output pipe would end the process.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  try {
    return await dispatch(args);
  } catch (error) {
    const isMisuse = error instanceof UsageError;
    tell(isMisuse ? error.message : describeError(error));
    return isMisuse ? 2 : 1;
  }
}

async function dispatch([name, ...args]: string[]): Promise<number> {
  if (name === undefined) {
    // A script might pass an unset variable as the command, so the exit code must report a failure.
    process.stderr.write(help);
    return 2;
  }
  if (['--version', '-v'].includes(name)) return print(`${version}\n`);
  if (['--help', '-h'].includes(name)) return print(help);
  const command = commands.get(name);
  if (command === undefined) {
    throw new UsageError(`There is no such command. The commands are ${[...commands.keys()].join(', ')}.`);
  }
  const flags = args.slice(0, args.includes('--') ? args.indexOf('--') : undefined);
  if (flags.includes('--help') || flags.includes('-h')) return print(command.help);
  // By default, `ps` shows the arguments, which may contain a password, to all users on this machine.
  process.title = `plant-store ${name}`;
  for (const warning of variableWarnings()) tell(warning);
  return command.run(args);
}

function tell(text: string): void {
  process.stderr.write(`plant-store: ${text}\n`);
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}
