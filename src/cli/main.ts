#!/usr/bin/env node
import './require-node.ts';
import './silence-sqlite-warning.ts';

// This import is dynamic. With a static import, an older Node.js would fail to load node:sqlite before it ran the check
// in require-node.ts.
const { run } = await import('./run.ts');
process.exitCode = await run(process.argv.slice(2));
