import { flagsOf, variablesOf } from './command-line.ts';
import type { CommandName, FlagName } from './command-line.ts';
import { commands, flags } from './table.ts';
import type { Command, Flag } from './table.ts';

/** The columns of a terminal, and the column in which explanations start. */
const [width, indent] = [80, 22];

export function help(): string {
  const rows = Object.entries<Command>(commands).map(([name, { operand = '', about }]) =>
    explained(`${name} ${operand}`, about.replace(/\.\s.*/s, '.')),
  );
  return `Usage: plant-store COMMAND [OPTIONS]

Stores a collection of plants for each user.

Commands:
${rows.join('')}
Options:
${explained('-h, --help', 'show this help, or the help of a command')}${explained('-v, --version', 'show the version')}
In the help of a command, an environment variable in parentheses sets the
default of its option.
`;
}

export function commandHelp(name: CommandName): string {
  const { operand = '', about, flags: texts }: Command = commands[name];
  const rows = flagsOf(name).map((flag) => explainedFlag(flag, texts[flag] ?? ''));
  return `Usage: ${`plant-store ${name} [OPTIONS] ${operand}`.trimEnd()}

${wrapped(about, width).join('\n')}

Options:
${rows.join('')}${explained('-h, --help', 'show this help')}`;
}

function explainedFlag(name: FlagName, text: string): string {
  const { value, fallback, absent }: Flag = flags[name];
  const variables = variablesOf(name).join(', else ');
  if (value === undefined) return explained(`--${name}`, `${text} (${variables}=true)`);
  const usual = fallback ?? absent;
  const notes = [variables, usual === undefined ? 'required' : `default ${usual}`].filter((note) => note !== '');
  return explained(`--${name} ${value}`, `${text} (${notes.join('; ')})`);
}

/** Formats a label and its explanation as two columns. */
function explained(label: string, text: string): string {
  const [start, margin] = [`  ${label} `, `\n${' '.repeat(indent)}`];
  const lines = wrapped(text, width - indent).join(margin);
  return `${start.length > indent ? start.trimEnd() + margin : start.padEnd(indent)}${lines}\n`;
}

function wrapped(text: string, columns: number): string[] {
  return text.replace(/\s+/g, ' ').match(new RegExp(`\\S.{0,${columns - 2}}(?= |$)`, 'g')) ?? [];
}
