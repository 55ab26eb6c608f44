// Preloaded into every server that is measured. Reports its resource usage when its parent asks.
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send({ cpuMicros: user + system, rssBytes: process.memoryUsage.rss() });
});
process.channel.unref();
