import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import type { Fault } from './fault.ts';
import { faultyText, projectRoot } from './workspace.ts';

/** "… is declared but never used" and its like: a fault often leaves an import or a name behind. */
const unusedCodes: ReadonlySet<number> = new Set([6133, 6138, 6192, 6196, 6198]);

/**
 * What is wrong with the list itself, one sentence each: faults that no longer fit the sources, or
 * whose tests are not there, and those among the chosen ones that the compiler would refuse.
 */
export function problemsOf(faults: readonly Fault[], chosen: readonly Fault[]): string[] {
  const names = new Set<string>();
  const problems = faults.flatMap((fault) => {
    const isRepeated = names.has(fault.name);
    names.add(fault.name);
    return (isRepeated ? ['has the name of another one'] : problemsWith(fault)).map((problem) =>
      sentence(fault, problem),
    );
  });
  return problems.length > 0 ? problems : refusalsOf(chosen);
}

/** What the compiler catches needs no test, and a test that fails for it has caught nothing. */
function refusalsOf(faults: readonly Fault[]): string[] {
  const compiler = new Compiler();
  return faults.flatMap((fault) => {
    const path = join(projectRoot, fault.file);
    const refusal = compiler.refusalOf(path, faultyText(fault, readFileSync(path, 'utf8')));
    return refusal === undefined
      ? []
      : [sentence(fault, `would be refused by the compiler: ${refusal.replace(/\.$/, '')}`)];
  });
}

function sentence({ name, file }: Fault, problem: string): string {
  return `The fault "${name}" in ${file} ${problem}.`;
}

function problemsWith({ file, find, replace, tests }: Fault): string[] {
  const path = join(projectRoot, file);
  if (!file.startsWith('src/') || !existsSync(path)) return ['is in no file of the sources'];
  const text = readFileSync(path, 'utf8');
  const count = text.split(find).length - 1;
  if (find === '' || count !== 1) return [`is to replace what stands there ${count} times, not once`];
  if (find === replace) return ['changes nothing'];
  const missing = tests.filter((test) => !existsSync(join(projectRoot, test)));
  return tests.length === 0 || missing.length > 0 ? [`names tests that are not there: ${missing.join(', ')}`] : [];
}

/** Looks at one changed file at a time, in the project as it is otherwise. */
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

  /** The compiler's first complaint about a file with this text. */
  refusalOf(path: string, text: string): string | undefined {
    this.#changed.set(path, { text, version: ++this.#version });
    const found = [...this.#service.getSyntacticDiagnostics(path), ...this.#service.getSemanticDiagnostics(path)];
    // A new version of the same: the file is again as it is on the disk.
    this.#changed.set(path, { text: ts.sys.readFile(path) ?? '', version: ++this.#version });
    const refusal = found.find(({ code }) => !unusedCodes.has(code));
    return refusal === undefined ? undefined : ts.flattenDiagnosticMessageText(refusal.messageText, ' ');
  }
}
