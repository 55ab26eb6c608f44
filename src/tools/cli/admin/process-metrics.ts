import { readdirSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { openFileLimit } from '../../../http/node/connection-limit.ts';
import { version } from '../version.ts';
import { Tally } from './metrics.ts';
import type { Metric } from './metrics.ts';

/** The interval between measurements of the event loop delay. The measured delays include this interval. */
const resolutionMs = 20;

/**
 * Collects this process's metrics until the process ends. Returns a function that returns the metrics under the names
 * that other Prometheus client libraries use. Each call of the returned function resets the event loop delays.
 */
export function collectProcessMetrics(): () => Metric[] {
  const delays = monitorEventLoopDelay({ resolution: resolutionMs });
  delays.enable();
  const [major = '', minor = '', patch = ''] = process.versions.node.split('.');
  const node = new Tally().add({ version: process.version, major, minor, patch });
  const plantStore = new Tally().add({ version: version() });
  const fileLimit = openFileLimit();
  const maxFiles = Number.isFinite(fileLimit) ? fileLimit : undefined;

  return () => {
    const { user, system } = process.cpuUsage();
    const startTime = performance.timeOrigin / 1000;
    const quantities = { mean: delays.mean, p50: delays.percentile(50), p99: delays.percentile(99), max: delays.max };
    delays.reset();
    const lags = Object.entries(quantities).map(([name, nanoseconds]): Metric => {
      const help = `Delay of the event loop since the previous request for metrics, ${name}.`;
      // Without a measurement, a quantity is NaN or 0.
      const seconds = nanoseconds > 0 ? Math.max(0, nanoseconds / 1e9 - resolutionMs / 1000) : undefined;
      return ['gauge', `nodejs_eventloop_lag_${name}_seconds`, help, seconds];
    });
    return [
      ...lags,
      ['counter', 'process_cpu_seconds_total', 'CPU time, user and system.', (user + system) / 1e6],
      ['gauge', 'process_resident_memory_bytes', 'Resident memory.', process.memoryUsage.rss()],
      ['gauge', 'process_open_fds', 'Open file descriptors.', openFiles()],
      ['gauge', 'process_max_fds', 'Maximum number of open file descriptors.', maxFiles],
      ['gauge', 'process_start_time_seconds', 'Start of the process, in seconds since 1970.', startTime],
      ['gauge', 'nodejs_version_info', 'The version of Node.js.', node],
      ['gauge', 'plant_store_build_info', 'The version of Plant Store.', plantStore],
    ];
  };
}

/** Returns the number of open file descriptors, if /proc exists and a file descriptor is free. */
function openFiles(): number | undefined {
  try {
    // Reading the folder uses one file descriptor, which is not counted.
    return readdirSync('/proc/self/fd').length - 1;
  } catch {
    return undefined;
  }
}
