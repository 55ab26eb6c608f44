// Preloaded into the server: when its parent asks, collects its garbage and tells what is left.
process.on('message', () => {
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  process.send?.(heapUsed + external);
});
// A server must not outlive a run that was broken off.
process.once('disconnect', () => process.exit(1));
process.channel?.unref();
