/**
 * Suppresses the warning of Node.js 22 that node:sqlite is experimental. People who run a command cannot do anything
 * about the warning.
 */
const emitWarning = process.emitWarning.bind(process) as (...args: unknown[]) => void;
process.emitWarning = (...args: unknown[]) => {
  if (!String(args[0]).startsWith('SQLite is an experimental feature')) emitWarning(...args);
};

export {};
