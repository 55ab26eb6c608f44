import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Loads } from './load-process.ts';

/** A load that runs in its own process. */
export interface RunningLoad<Report> {
  /** Resolves when the load's connections are open. */
  readonly ready: Promise<void>;
  readonly report: Promise<Report>;
  /** Ends the load early. */
  stop(): void;
}

type Message<Report> = { readonly isReady: true } | { readonly report: Report };

const program = fileURLToPath(new URL('load-process.ts', import.meta.url));

/** Starts the load with this name. */
export function startLoad<Name extends keyof Loads>(
  name: Name,
  options: Parameters<Loads[Name]>[0],
): RunningLoad<Awaited<ReturnType<Loads[Name]>>> {
  type Report = Awaited<ReturnType<Loads[Name]>>;
  const child = fork(program, [name, JSON.stringify(options)], { serialization: 'advanced' });
  const ready = Promise.withResolvers<undefined>();
  const report = Promise.withResolvers<Report>();
  child.on('message', (message: Message<Report>) => {
    if ('report' in message) report.resolve(message.report);
    else ready.resolve(undefined);
  });
  child.once('exit', (code) => {
    const failure = new Error(`${name} ended with ${String(code)}`);
    ready.reject(failure);
    report.reject(failure);
  });
  // Without these handlers, a rejection could end this process.
  ready.promise.catch(() => undefined);
  report.promise.catch(() => undefined);
  return {
    ready: ready.promise,
    report: report.promise,
    stop: () => {
      if (child.connected) child.send('stop');
    },
  };
}
