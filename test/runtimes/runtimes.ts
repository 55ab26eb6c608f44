/** The runtimes besides Node.js that `test/runtimes` installs, with their arguments before the file of a program. */
export const runtimes: readonly { name: string; path: string; args: readonly string[] }[] = [
  { name: 'Deno', path: '.bin/deno', args: ['run', '--allow-all'] },
  { name: 'Bun', path: '.bin/bun', args: [] },
];
