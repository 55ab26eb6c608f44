import { it } from 'node:test';
import { evalArgs, runSuccessfully } from '../support/run-program.ts';
import { sourceUrl } from '../support/sources.ts';
import { hasProgram } from '../support/system-fault.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

it('syncFolder › does nothing if the file system does not support fsync for folders', async (t) => {
  if (!hasProgram(t, 'strace')) return;
  const folder = await temporaryFolder(t);
  const script = `import { syncFolder } from '${sourceUrl('files/folder.ts')}'; syncFolder(process.argv[1]);`;
  const strace = ['-f', '-o', '/dev/null', '-P', folder, '-e', 'inject=fsync:error=EINVAL'];
  await runSuccessfully('strace', [...strace, process.execPath, ...evalArgs(script, [folder])]);
});
