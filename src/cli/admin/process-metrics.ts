import { readdirSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { IntervalHistogram } from 'node:perf_hooks';
import { openFileLimit } from '../../http/node/connection-limit.ts';
import type { Metric } from './exposition.ts';
import { Reading } from './metric-types.ts';

/**
 * The interval between measurements of the event loop delay, in milliseconds. The measured delays include this
 * interval.
 */
const resolutionMs = 20;

/** The metrics of this process, under the same names as in other Prometheus client libraries. */
export class ProcessMetrics {
  readonly #delays: IntervalHistogram = monitorEventLoopDelay({ resolution: resolutionMs });
  readonly all: readonly Metric[];

  constructor(version: string) {
    this.#delays.enable();
    const [major = '', minor = '', patch = ''] = process.versions.node.split('.');
    const node = { version: process.version, major, minor, patch };
    const maxFiles = openFileLimit();
    this.all = [
      ...this.#eventLoopDelays(),
      new Reading('counter', 'process_cpu_seconds_total', 'CPU time, user and system.', cpuSeconds),
      new Reading('gauge', 'process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss()),
      new Reading('gauge', 'process_open_fds', 'Open file descriptors.', openFiles),
      new Reading('gauge', 'process_max_fds', 'Maximum number of open file descriptors.', () =>
        Number.isFinite(maxFiles) ? maxFiles : undefined,
      ),
      new Reading(
        'gauge',
        'process_start_time_seconds',
        'Start of the process, in seconds since 1970.',
        () => performance.timeOrigin / 1000,
      ),
      new Reading('gauge', 'nodejs_version_info', 'The version of Node.js.', () => 1, node),
      new Reading('gauge', 'plant_store_build_info', 'The version of Plant Store.', () => 1, { version }),
    ];
  }

  /** Discards the measured event loop delays, so that the next metrics cover a new interval. */
  startInterval(): void {
    this.#delays.reset();
  }

  close(): void {
    this.#delays.disable();
  }

  #eventLoopDelays(): Metric[] {
    const quantities: [name: string, read: () => number][] = [
      ['mean', () => this.#delays.mean],
      ['p50', () => this.#delays.percentile(50)],
      ['p99', () => this.#delays.percentile(99)],
      ['max', () => this.#delays.max],
    ];
    return quantities.map(([name, read]) => {
      const help = `Delay of the event loop since the previous request for metrics, ${name}.`;
      return new Reading('gauge', `nodejs_eventloop_lag_${name}_seconds`, help, () => delaySeconds(read()));
    });
  }
}

/**
 * Converts a measured delay to seconds and subtracts the interval. Returns `undefined` if nothing has been measured.
 */
function delaySeconds(nanoseconds: number): number | undefined {
  if (!(nanoseconds > 0 && nanoseconds < Number.MAX_SAFE_INTEGER)) return undefined;
  return Math.max(0, nanoseconds / 1e9 - resolutionMs / 1000);
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/**
 * Returns the number of open file descriptors, or `undefined` if the system does not have /proc or if no file
 * descriptor is free.
 */
function openFiles(): number | undefined {
  try {
    // Reading the folder uses one file descriptor, which is not counted.
    return readdirSync('/proc/self/fd').length - 1;
  } catch {
    return undefined;
  }
}
