// Preloaded into every measured server. Reports the server's resource usage when the parent process requests it, and
// ends the server when the parent process ends.
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

const resolutionMs = 1;

// Worker threads load this file too.
if (isMainThread) {
  const delays = monitorEventLoopDelay({ resolution: resolutionMs });
  delays.enable();
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    // The reported delays include the interval between two measurements.
    const loopDelayMs = Math.max(0, delays.percentile(99) / 1e6 - resolutionMs);
    delays.reset();
    process.send({ cpuMicros: user + system, peakMiB: process.resourceUsage().maxRSS / 1024, loopDelayMs });
  });
  process.once('disconnect', () => process.exit());
  process.channel.unref();
}
