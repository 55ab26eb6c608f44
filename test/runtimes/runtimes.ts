/** The runtimes besides Node.js that `test/runtimes` installs, with the arguments that precede a program file. */
export const runtimes: readonly { name: string; path: string; args: readonly string[] }[] = [
  { name: 'Deno', path: '.bin/deno', args: ['run', '--allow-all'] },
  { name: 'Bun', path: '.bin/bun', args: [] },
];
