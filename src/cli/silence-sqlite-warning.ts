/** Node 22 warns that node:sqlite is experimental. A user of the command line can do nothing about it. */
const emitWarning = process.emitWarning.bind(process) as (...args: unknown[]) => void;
process.emitWarning = (...args: unknown[]) => {
  if (!String(args[0]).startsWith('SQLite is an experimental feature')) emitWarning(...args);
};

export {};
