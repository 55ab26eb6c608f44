import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { evalArgs, runSuccessfully } from './run-program.ts';
import { root } from './sources.ts';
import { temporaryFolder } from './temporary-folder.ts';
import type { HasAfter } from './temporary-folder.ts';

/**
 * Runs `plant-store` from a copy of the source code that cannot find any packages. Returns the output and the exit
 * code.
 */
export async function runWithoutPackages(t: HasAfter, args: string[]): Promise<string> {
  const folder = await temporaryFolder(t);
  await cp(join(root, 'src'), join(folder, 'src'), { recursive: true });
  await cp(join(root, 'package.json'), join(folder, 'package.json'));
  const script = `
    process.stderr.write = (text) => process.stdout.write(text);
    const { run } = await import(${JSON.stringify(join(folder, 'src', 'cli', 'run.ts'))});
    console.log(await run(${JSON.stringify(args)}));`;
  const nodeArgs = ['--disable-warning=ExperimentalWarning', ...evalArgs(script)];
  return runSuccessfully(process.execPath, nodeArgs, { cwd: folder });
}
