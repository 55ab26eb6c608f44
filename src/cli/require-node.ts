/** Stops at once, with one sentence, where Node is too old for node:sqlite: the floor of package.json's `engines`. */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 16)) {
  process.stderr.write(
    `plant-store needs Node.js 22.16 or newer, and this is ${process.version}: install a newer Node.js, ` +
      'or in a clone of the repository run `npm ci` with install scripts allowed, which brings one along.\n',
  );
  process.exit(1);
}

export {};
