import { sendAndDisconnect, sendBurst, sendAtByteRate } from './burst.ts';
import { runClosedLoop } from './closed-loop.ts';
import { arriveOneByOne, holdConnections } from './held-connections.ts';
import { floodConnections } from './flood.ts';
import { probeFreshness } from './freshness.ts';
import { holdIdle } from './idle.ts';
import { runOpenLoop } from './open-loop.ts';
import { pipelineRequests } from './pipeline.ts';
import { readFast, readSlowly } from './readers.ts';
import { sendAndStall } from './stalled.ts';
import { sendSlowly } from './slow-senders.ts';
import { runAtFixedRate } from './fixed-rate.ts';

/** The connection of a load to the process that started it. */
export interface Control {
  /** Reports that all connections are open. */
  ready(): void;
  /** Resolves when the load must end early. */
  readonly stopped: Promise<void>;
}

const loads = {
  runClosedLoop,
  runOpenLoop,
  runAtFixedRate,
  arriveOneByOne,
  holdIdle,
  holdConnections,
  sendSlowly,
  sendAndStall,
  probeFreshness,
  readSlowly,
  readFast,
  floodConnections,
  pipelineRequests,
  sendBurst,
  sendAndDisconnect,
  sendAtByteRate,
};

/** All loads by their names. */
export type Loads = typeof loads;

/** Runs a load. It has its own process, so that its CPU time does not affect the server or the measurements. */
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
