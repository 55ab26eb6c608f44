import { askAndLeave, burst, trickle } from './burst.ts';
import { runLoop } from './closed-loop.ts';
import { arrive, holdAndReconnect } from './few-files-clients.ts';
import { flood } from './flood.ts';
import { holdIdle } from './idle.ts';
import { runOpenLoop } from './open-loop.ts';
import { pipeline } from './pipeline.ts';
import { readFast, readSlowly } from './readers.ts';
import { sendSlowly } from './slow-senders.ts';
import { runSteadily } from './steady.ts';

/** What a load has to do with the process that asked for it. */
export interface Control {
  /** Tells that all connections are there. */
  ready(): void;
  /** Resolves when it is to end before its time. */
  readonly stopped: Promise<void>;
}

const loads = {
  runLoop,
  runOpenLoop,
  runSteadily,
  arrive,
  holdIdle,
  holdAndReconnect,
  sendSlowly,
  readSlowly,
  readFast,
  flood,
  pipeline,
  burst,
  askAndLeave,
  trickle,
};

/** The loads by their names. */
export type Loads = typeof loads;

/** A process of its own: one that also measured, or ran the server, would measure itself. */
async function main([name = '', options = '']: string[]): Promise<void> {
  const stopped = new Promise<void>((resolve) =>
    process.once('message', () => {
      resolve();
    }),
  );
  process.once('disconnect', () => process.exit(1));
  const load = loads[name as keyof Loads] as (options: unknown, control: Control) => Promise<unknown>;
  const report = await load(JSON.parse(options), { ready: () => process.send?.({ isReady: true }), stopped });
  process.send?.({ report }, () => process.exit(0));
}

await main(process.argv.slice(2));
