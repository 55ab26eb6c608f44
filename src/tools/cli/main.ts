#!/usr/bin/env node
import './require-node.ts';
import './silence-sqlite-warning.ts';

// With a static import, an older version of Node.js would fail to load node:sqlite before the check in require-node.ts
// runs.
const { run } = await import('./run.ts');
process.exitCode = await run(process.argv.slice(2));
