import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { run } from '../../src/cli/run.ts';
import type { CommandContext } from './command-line.ts';
import { commandEnvironment } from './run-program.ts';
import type { Finished } from './run-program.ts';
import { main } from './sources.ts';

/** Where a command runs, and its standard input, which is empty by default. */
interface CallContext extends Pick<CommandContext, 'cwd' | 'env'> {
  readonly input?: string | Uint8Array;
}

let previous: Promise<unknown> = Promise.resolve();

/**
 * Runs `plant-store` in this process, because starting another process is slow. Commands run one after another, each
 * with its own folder, environment and standard input. Tests of servers need a separate process: see `startServer`.
 */
export function callCommand(args: string[], context: CallContext): Promise<Finished> {
  const finished = previous.then(() => callNow(args, context));
  previous = finished.catch(() => undefined);
  return finished;
}

/** The events to which a command adds listeners that it does not remove. */
const events: readonly (readonly [NodeJS.EventEmitter, string])[] = [
  ...['SIGHUP', 'SIGUSR1', 'warning', 'uncaughtException'].map((event) => [process, event] as const),
  ...[process.stdout, process.stderr].map((stream) => [stream, 'error'] as const),
];

async function callNow(args: string[], { cwd, env, input = '' }: CallContext): Promise<Finished> {
  const before = { cwd: process.cwd(), env: process.env, title: process.title };
  const listeners = new Set(events.flatMap(([emitter, event]) => emitter.listeners(event)));
  const stdin = Object.getOwnPropertyDescriptor(process, 'stdin') ?? {};
  process.argv = [process.execPath, main, ...args];
  process.env = commandEnvironment(env);
  process.chdir(cwd);
  Object.defineProperty(process, 'stdin', { value: Readable.from([Buffer.from(input)]), configurable: true });
  const [stdout, stderr] = [captureStream(process.stdout), captureStream(process.stderr)];
  // A server that should have refused to start would never end. This error ends the process.
  const limit = setTimeout(() => {
    throw new Error(`plant-store ${args.join(' ')} did not end within a minute`);
  }, 60_000);
  try {
    const code = await run(args);
    return { code, stdout: stdout.text(), stderr: stderr.text() };
  } finally {
    clearTimeout(limit);
    stdout.release();
    stderr.release();
    for (const [emitter, event] of events) {
      const added = emitter.listeners(event).filter((listener) => !listeners.has(listener));
      for (const listener of added) emitter.off(event, listener as () => void);
    }
    Object.defineProperty(process, 'stdin', stdin);
    process.chdir(before.cwd);
    process.env = before.env;
    process.title = before.title;
  }
}

/** Captures the strings that are written to a stream. node:test writes its reports as bytes. */
function captureStream(stream: NodeJS.WriteStream): { text: () => string; release: () => void } {
  const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
  let text = '';
  stream.write = (chunk: unknown, ...args: unknown[]): boolean => {
    if (typeof chunk !== 'string') return write(chunk, ...args);
    text += chunk;
    const callback = args.at(-1) as (() => void) | undefined;
    callback?.();
    return true;
  };
  return { text: () => text, release: () => void (stream.write = write) };
}

/** Asserts that a command exits with `expectedCode`, and reports `problem` on one line. Spaces separate arguments. */
export async function assertFails(
  command: string,
  context: CallContext,
  problem: string | RegExp,
  expectedCode = 1,
): Promise<void> {
  const { code, stderr } = await callCommand(command.split(' '), context);
  assert.equal(code, expectedCode, `${command}: ${stderr}`);
  assert.match(stderr, /^(?:plant-store: |\{"time":)[^\n]*\n$/);
  assert.ok(typeof problem === 'string' ? stderr.includes(problem) : problem.test(stderr), stderr);
}
