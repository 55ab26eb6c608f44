import { flagsOf, variablesOf } from './command-line.ts';
import type { CommandName, FlagName } from './command-line.ts';
import { commands, flags } from './table.ts';
import type { Command, Flag } from './table.ts';

/** The columns of a terminal, and the column in which explanations start. */
const [width, indent] = [80, 22];

export function help(): string {
  const rows = Object.entries<Command>(commands);
  return `Usage: plant-store COMMAND [OPTIONS]

Stores a collection of plants for each user.

Commands:
${rows.map(([name, { operand = '', summary }]) => explained(`${name} ${operand}`, summary)).join('')}
Options:
${explained('-h, --help', 'show this help, or the help of a command')}${explained('-v, --version', 'show the version')}
In the help of a command, an environment variable in parentheses sets the
default of its option.
`;
}

export function commandHelp(name: CommandName): string {
  const { operand = '', about, flags: texts }: Command = commands[name];
  const required = flagsOf(name).filter(isRequired).map(labelOf);
  return `Usage: ${['plant-store', name, ...required, '[OPTIONS]', operand].join(' ').trimEnd()}

${about}

Options:
${flagsOf(name)
  .map((flag) => explainedFlag(flag, texts[flag] ?? ''))
  .join('')}${explained('-h, --help', 'show this help')}`;
}

function explainedFlag(name: FlagName, text: string): string {
  const { value, fallback, absent }: Flag = flags[name];
  const variables = variablesOf(name).join(', else ');
  const usual = fallback ?? absent;
  const notes = value === undefined ? [`${variables}=true`] : [variables, usual && `default ${usual}`];
  const shown = notes.filter((note) => note !== undefined && note !== '').join('; ');
  return explained(labelOf(name), shown === '' ? text : `${text} (${shown})`);
}

function labelOf(name: FlagName): string {
  const { value = '' }: Flag = flags[name];
  return `--${name} ${value}`.trimEnd();
}

function isRequired(name: FlagName): boolean {
  const { value, fallback, absent }: Flag = flags[name];
  return value !== undefined && fallback === undefined && absent === undefined;
}

/** Formats a label and its explanation as two columns. */
function explained(label: string, text: string): string {
  const words = text.replace(/\s+/g, ' ');
  const lines = words.match(new RegExp(`\\S.{0,${width - indent - 2}}(?= |$)`, 'g')) ?? [];
  const start = `  ${label}`.trimEnd();
  const first = start.length < indent ? start.padEnd(indent) : `${start}\n${' '.repeat(indent)}`;
  return `${first}${lines.join(`\n${' '.repeat(indent)}`)}\n`;
}
