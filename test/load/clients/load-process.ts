import * as loads from './loads.ts';

/** The communication between a load and the process that started the load. */
export interface Control {
  /** Reports that all connections are open. */
  ready(): void;
  /** Resolves when the load must end early. */
  readonly stopped: Promise<void>;
}

/** All loads, by name. */
export type Loads = typeof loads;

/** Runs a load in this separate process, so that its CPU time does not affect the server or the measurements. */
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
