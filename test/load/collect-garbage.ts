// Preloaded into the server. When its parent asks, it collects garbage and reports the memory in use.
process.on('message', () => {
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  process.send?.(heapUsed + external);
});
// The server must not outlive an interrupted run.
process.once('disconnect', () => process.exit(1));
process.channel?.unref();
