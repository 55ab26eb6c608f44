import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import type { Fault } from './fault.ts';
import { faultyText, projectRoot } from './workspace.ts';

/** "… is declared but never used" and similar diagnostics: a fault often leaves an unused import or name. */
const unusedCodes: ReadonlySet<number> = new Set([6133, 6138, 6192, 6196, 6198]);

/**
 * Checks the faults themselves and returns one sentence for each problem: a fault that does not apply
 * to the sources, whose tests do not exist, or, among the `chosen` ones, that does not compile.
 */
export function problemsOf(faults: readonly Fault[], chosen: readonly Fault[]): string[] {
  const names = new Set<string>();
  const problems = faults.flatMap((fault) => {
    const isRepeated = names.has(fault.name);
    names.add(fault.name);
    const found = isRepeated ? ['has the name of another fault'] : problemsWith(fault);
    return found.map((problem) => sentence(fault, problem));
  });
  return problems.length > 0 ? problems : compilerErrorsOf(chosen);
}

/** A fault must compile: otherwise every test fails, which proves nothing. */
function compilerErrorsOf(faults: readonly Fault[]): string[] {
  const compiler = new Compiler();
  return faults.flatMap((fault) => {
    const path = join(projectRoot, fault.file);
    const error = compiler.firstError(path, faultyText(fault, readFileSync(path, 'utf8')));
    return error === undefined ? [] : [sentence(fault, `does not compile: ${error.replace(/\.$/, '')}`)];
  });
}

function sentence({ name, file }: Fault, problem: string): string {
  return `The fault "${name}" in ${file} ${problem}.`;
}

function problemsWith({ file, find, replace, tests }: Fault): string[] {
  const path = join(projectRoot, file);
  if (!file.startsWith('src/') || !existsSync(path)) return ['names a file that is not in src'];
  const text = readFileSync(path, 'utf8');
  const count = text.split(find).length - 1;
  if (find === '' || count !== 1) return [`quotes a text that occurs ${count} times, not once`];
  if (find === replace) return ['changes nothing'];
  const missing = tests.filter((test) => !existsSync(join(projectRoot, test)));
  return tests.length === 0 || missing.length > 0
    ? [`names no tests, or tests that do not exist: ${missing.join(', ')}`]
    : [];
}

/** Compiles the project with one changed file at a time. */
class Compiler {
  readonly #changed = new Map<string, { text: string; version: number }>();
  readonly #service: ts.LanguageService;
  #version = 0;

  constructor() {
    const configPath = join(projectRoot, 'tsconfig.json');
    const { config } = ts.readConfigFile(configPath, (path) => ts.sys.readFile(path)) as {
      config: { include: string[] };
    };
    const { options, fileNames } = ts.parseJsonConfigFileContent({ ...config, include: ['src'] }, ts.sys, projectRoot);
    this.#service = ts.createLanguageService({
      getCompilationSettings: () => options,
      getScriptFileNames: () => fileNames,
      getScriptVersion: (path) => String(this.#changed.get(path)?.version ?? 0),
      getScriptSnapshot: (path) => {
        const text = this.#changed.get(path)?.text ?? ts.sys.readFile(path);
        return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
      },
      getCurrentDirectory: () => projectRoot,
      getDefaultLibFileName: ts.getDefaultLibFilePath,
      fileExists: (path) => ts.sys.fileExists(path),
      readFile: (path) => ts.sys.readFile(path),
      readDirectory: (path) => ts.sys.readDirectory(path),
      directoryExists: (path) => ts.sys.directoryExists(path),
      getDirectories: (path) => ts.sys.getDirectories(path),
    });
  }

  /** Returns the first error in the file at `path` if its content is `text`. */
  firstError(path: string, text: string): string | undefined {
    this.#changed.set(path, { text, version: ++this.#version });
    const found = [...this.#service.getSyntacticDiagnostics(path), ...this.#service.getSemanticDiagnostics(path)];
    // A new version with the content on disk, so that the next file is checked without this change.
    this.#changed.set(path, { text: ts.sys.readFile(path) ?? '', version: ++this.#version });
    const error = found.find(({ code }) => !unusedCodes.has(code));
    return error === undefined ? undefined : ts.flattenDiagnosticMessageText(error.messageText, ' ');
  }
}
