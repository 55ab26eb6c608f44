#!/usr/bin/env node
import './require-node.ts';
import './silence-sqlite-warning.ts';

// Not a static import, because an older Node.js would fail on node:sqlite before it ran the check above.
const { run } = await import('./run.ts');
process.exitCode = await run(process.argv.slice(2));
