import { run } from '../../src/cli/run.ts';
import { captureStream } from './capture-stream.ts';
import type { CommandContext } from './command-line.ts';
import { commandEnvironment } from './run-program.ts';
import type { Finished } from './run-program.ts';

let previous: Promise<unknown> = Promise.resolve();

/**
 * Runs `plant-store` in this process, because starting another process is slow. Commands run one after another, each
 * with its own folder and environment. Tests of signals, standard input or servers need a separate process: see
 * `runCommand`.
 */
export function callCommand(args: string[], context: Pick<CommandContext, 'cwd' | 'env'>): Promise<Finished> {
  const finished = previous.then(() => callNow(args, context));
  previous = finished.catch(() => undefined);
  return finished;
}

async function callNow(args: string[], { cwd, env }: Pick<CommandContext, 'cwd' | 'env'>): Promise<Finished> {
  const before = { cwd: process.cwd(), env: process.env, title: process.title };
  process.env = commandEnvironment(env);
  process.chdir(cwd);
  const [stdout, stderr] = [captureStream(process.stdout), captureStream(process.stderr)];
  try {
    const code = await run(args);
    return { code, stdout: stdout.text(), stderr: stderr.text() };
  } finally {
    stdout.release();
    stderr.release();
    process.chdir(before.cwd);
    process.env = before.env;
    process.title = before.title;
  }
}
