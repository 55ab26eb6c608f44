import assert from 'node:assert/strict';
import { join } from 'node:path';
import ts from 'typescript';
import { root } from '../support/sources.ts';
import { entries, moduleOf } from './entries.ts';

const pathOf = (module: string): string => join(root, `dist/${module}.d.ts`);

const program = ts.createProgram(
  entries.map((entry) => pathOf(moduleOf(entry))),
  { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2023, strict: true, types: ['node'] },
);

/** Reads the types of the built declarations. */
export const checker: ts.TypeChecker = program.getTypeChecker();

/** Returns what a public entry exports, according to its declarations in `dist`. */
export function exportsOf(module: string): ts.Symbol[] {
  const file = program.getSourceFile(pathOf(module));
  assert.ok(file, `There is no ${pathOf(module)}: run \`npm run build\` first.`);
  const symbol = checker.getSymbolAtLocation(file);
  assert.ok(symbol);
  return checker.getExportsOfModule(symbol).map(resolve);
}

function resolve(symbol: ts.Symbol): ts.Symbol {
  return (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol);
}
