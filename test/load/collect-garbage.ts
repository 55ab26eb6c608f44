// Preloaded into the server. Collects garbage when its parent asks.
process.on('message', () => {
  globalThis.gc?.();
  process.send?.('collected');
});
// The server must not outlive an interrupted run.
process.once('disconnect', () => process.exit(1));
process.channel?.unref();
