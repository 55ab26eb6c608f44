import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startServer } from './support/command-line.ts';
import { listDocs, readDocument } from './support/documents.ts';
import { assertTestsPassed, plainEnvironment, runSuccessfully } from './support/run-program.ts';
import { untilListening } from './support/server-process.ts';
import { plantStore, root, tsx } from './support/sources.ts';
import { temporaryFolder } from './support/temporary-folder.ts';
import type { HasAfter } from './support/temporary-folder.ts';

interface Snippet {
  /** The page, and the position of the snippet on the page. */
  readonly name: string;
  readonly language: string;
  readonly code: string;
}

interface Project {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

async function readSnippets(page: string): Promise<Snippet[]> {
  const fences = (await readDocument(page)).matchAll(/^```(\w*)\n(.*?)^```$/gms);
  return [...fences].map(([, language = '', code = ''], index) => ({
    name: `${page}, snippet ${index + 1}`,
    language,
    code,
  }));
}

const pages = ['README.md', ...(await listDocs())];
const snippets = (await Promise.all(pages.map(readSnippets))).flat();
const typeScript = snippets.filter(({ language }) => language === 'ts');
const shell = snippets.filter(({ language }) => language === 'sh');

const isCloneCommand = ({ code }: Snippet): boolean => code.startsWith('npm ');
const isStart = ({ code }: Snippet): boolean => code === 'plant-store serve\n';
const managesTokens = ({ code }: Snippet): boolean => code.includes('token revoke');
const hasOwnTest = (snippet: Snippet): boolean => isCloneCommand(snippet) || isStart(snippet) || managesTokens(snippet);

/** Returns the output that a snippet promises, which is the text after each `→` in its comments. */
function promisedLines({ code }: Snippet): string[] {
  return [...code.matchAll(/(?:\/\/|#) → (.+)$/gm)].map(([, line = '']) => line);
}

function linesOf(stdout: string): string[] {
  return stdout.trimEnd().split('\n');
}

/**
 * Creates a folder in which the built package and Express are installed, and an environment with `plant-store` on its
 * PATH.
 */
async function makeProject(t: HasAfter): Promise<Project> {
  const cwd = await temporaryFolder(t);
  await mkdir(join(cwd, 'node_modules'));
  await symlink(root, join(cwd, 'node_modules', 'plant-store'), 'dir');
  for (const name of ['express', '@types']) {
    await symlink(join(root, 'node_modules', name), join(cwd, 'node_modules', name), 'dir');
  }
  await writeFile(join(cwd, 'package.json'), '{"type":"module"}');
  const program = join(cwd, 'plant-store');
  const quoted = [process.execPath, ...plantStore].map((part) => `'${part}'`).join(' ');
  await writeFile(program, `#!/bin/sh\nexec ${quoted} "$@"\n`);
  await chmod(program, 0o755);
  return { cwd, env: { ...plainEnvironment(), PATH: `${cwd}${delimiter}${process.env['PATH'] ?? ''}` } };
}

/** Runs a shell snippet and returns its output. If the snippet calls a server, a server and a token are provided. */
async function runShell(t: HasAfter, { code }: Snippet): Promise<string> {
  const { cwd, env } = await makeProject(t);
  if (!code.includes('http://127.0.0.1:3000')) return runSuccessfully('sh', ['-ec', code], { cwd, env });
  const server = await startServer(t, [], { cwd });
  const TOKEN = (await readFile(join(cwd, 'first-token.txt'), 'utf8')).trimEnd();
  const script = code.replaceAll('http://127.0.0.1:3000', server.url);
  return runSuccessfully('sh', ['-ec', script], { cwd, env: { ...env, TOKEN } });
}

describe('snippets of README and docs', () => {
  it('are TypeScript, shell commands or unlabeled', () => {
    assert.deepEqual([...new Set(snippets.map(({ language }) => language))].sort(), ['', 'sh', 'ts']);
  });

  it('have types that TypeScript accepts', async (t) => {
    const { cwd } = await makeProject(t);
    const files = typeScript.map(({ code }, index) => ({ name: `snippet-${index}.ts`, code }));
    for (const { name, code } of files) await writeFile(join(cwd, name), code);
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2023', '--types', 'node'];
    const tsc = fileURLToPath(import.meta.resolve('typescript/bin/tsc'));
    await runSuccessfully(process.execPath, [tsc, ...options, ...files.map(({ name }) => name)], { cwd });
  });

  for (const snippet of typeScript) {
    it(`${snippet.name}: runs and prints what it promises`, async (t) => {
      const { cwd } = await makeProject(t);
      await writeFile(join(cwd, 'snippet.ts'), snippet.code);
      const stdout = await runSuccessfully(process.execPath, ['--import', tsx, 'snippet.ts'], { cwd });
      // A comment such as `→ 1000, 500` means that one line of output is expected for each number.
      const lines = promisedLines(snippet).flatMap((line) => (/^[\d, ]+$/.test(line) ? line.split(', ') : [line]));
      if (lines.length > 0) assert.deepEqual(linesOf(stdout), lines);
      else assertTestsPassed(stdout);
    });
  }

  for (const snippet of shell.filter((each) => !hasOwnTest(each))) {
    it(`${snippet.name}: runs and prints what it promises`, async (t) => {
      const lines = promisedLines(snippet);
      assert.notDeepEqual(lines, [], 'The snippet promises no output.');
      assert.deepEqual(linesOf(await runShell(t, snippet)), lines);
    });
  }
});

describe('commands of README and docs', () => {
  it('for a clone are the commands that CI runs', async () => {
    const commands = shell.filter(isCloneCommand).map(({ code }) => code.trim());
    assert.deepEqual(commands, ['npm ci && npm start', 'npm ci && npm test']);
    const ci = await readDocument('.ci/run');
    for (const command of commands) assert.ok(ci.includes(`\n${command}`), `.ci/run does not run ${command}`);
  });

  it('start the service', async (t) => {
    const { cwd, env } = await makeProject(t);
    const [start, ...others] = shell.filter(isStart);
    assert.ok(start);
    assert.deepEqual(others, []);
    const child = spawn('sh', ['-c', `exec ${start.code}`], {
      cwd,
      env: { ...env, PORT: '0' },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const server = await untilListening(t, child, /^Plant Store listening on (http:\/\/127\.0\.0\.1:\d+)\n/m);
    assert.equal(await server.stop(), 0);
  });

  it('create, list and revoke tokens', async (t) => {
    const { cwd, env } = await makeProject(t);
    const [commands, ...others] = shell.filter(managesTokens);
    assert.ok(commands);
    assert.deepEqual(others, []);
    const lines = linesOf(await runSuccessfully('sh', ['-ec', commands.code], { cwd, env }));
    assert.match(lines[0] ?? '', /^pst_\w{36}$/);
    assert.match(lines[1] ?? '', /^pst_\w{36}$/);
    assert.equal(lines.length, 5, lines.join('\n'));
    const { tokens } = JSON.parse(await readFile(join(cwd, 'tokens.json'), 'utf8')) as {
      tokens: { user: string; scopes?: string[] }[];
    };
    assert.deepEqual(
      tokens.map(({ user, scopes }) => [user, scopes]),
      [['ada', undefined]],
    );
  });
});
