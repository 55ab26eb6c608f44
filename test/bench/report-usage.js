// Preloaded into every measured server. Reports the server's resource usage when the parent process requests it, and
// ends the server when the parent process ends.
import { monitorEventLoopDelay } from 'node:perf_hooks';

const resolutionMs = 1;

// Worker threads, which load this file too, have no channel.
if (process.channel) {
  const delays = monitorEventLoopDelay({ resolution: resolutionMs });
  delays.enable();
  process.on('message', () => {
    // CPU times and page faults are those of all threads since the process started.
    const { userCPUTime, systemCPUTime, maxRSS, majorPageFault } = process.resourceUsage();
    // The 99th percentile since the previous report. Delays include the interval between two measurements.
    const loopDelayMs = Math.max(0, delays.percentile(99) / 1e6 - resolutionMs);
    delays.reset();
    const cpuMicros = userCPUTime + systemCPUTime;
    process.send({ cpuMicros, peakMiB: maxRSS / 1024, loopDelayMs, majorPageFaults: majorPageFault });
  });
  process.once('disconnect', () => process.exit());
  process.channel.unref();
}
