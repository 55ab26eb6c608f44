// Preloaded into the server. Collects garbage when the parent process requests it.
process.on('message', () => {
  globalThis.gc?.();
  process.send?.('collected');
});
// The server must not outlive an interrupted run.
process.once('disconnect', () => process.exit(1));
process.channel?.unref();
