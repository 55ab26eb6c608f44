#!/usr/bin/env node
import { setTimeout } from 'node:timers';
import './require-node.ts';

// Node.js 22 warns that node:sqlite is experimental. The warning is hidden, because users cannot do anything about it.
const emitWarning = process.emitWarning.bind(process) as (...args: unknown[]) => void;
process.emitWarning = (...args: unknown[]) => {
  if (!String(args[0]).startsWith('SQLite is an experimental feature')) emitWarning(...args);
};

// With a static import, an old version of Node.js would fail to load node:sqlite before the check in require-node.ts
// could run.
const { run } = await import('./run.ts');
process.exitCode = await run(process.argv.slice(2));
// After a failed start, an open port or an open `pg` connection must not keep the process running.
if (process.exitCode !== 0) setTimeout(() => process.exit(), 1000).unref();
