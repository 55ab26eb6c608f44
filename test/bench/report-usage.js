// Preloaded into every server that is measured: tells its parent what it has used so far.
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send({ cpuMicros: user + system, rssBytes: process.memoryUsage.rss() });
});
process.channel.unref();
