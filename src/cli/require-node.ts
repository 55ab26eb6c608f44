import { describeNeededNode } from '../storage/sqlite/version.ts';

// Exits with a one-sentence message if this version of Node.js does not include SQLite, or if the included version of
// SQLite can corrupt a file.
const needed = describeNeededNode(process.versions['sqlite']);
if (needed !== undefined) {
  process.stderr.write(`plant-store needs ${needed}, or in a clone, run \`npm ci\` with install scripts allowed.\n`);
  process.exit(2);
}
