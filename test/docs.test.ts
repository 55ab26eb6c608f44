import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { describe, it } from 'node:test';
import { eventually } from './support/eventually.ts';
import { freePort } from './support/listen.ts';
import { startServer } from './support/command-line.ts';
import { readDocument, readSnippets } from './support/documents.ts';
import { assertTestsPassed, plainEnvironment, runSuccessfully } from './support/run-program.ts';
import { main, root } from './support/sources.ts';
import { temporaryFolder } from './support/temporary-folder.ts';
import type { HasAfter } from './support/temporary-folder.ts';

const snippets = await readSnippets();
type Snippet = (typeof snippets)[number];
const typeScript = snippets.filter(({ language }) => language === 'ts');
const shell = snippets.filter(({ language }) => language === 'sh');
/** Commands for a clone, which `.ci/run` runs. */
const isForClone = ({ code }: Snippet): boolean => code.startsWith('npm ');

/** A server, which the shell commands in the next snippet call. */
const isServer = ({ language, code }: Snippet): boolean => language === 'ts' && code.includes('.listen(3000)');

/** Starts a server of the documentation on a free port, and returns the port. */
async function startSnippet(t: HasAfter, { code }: Snippet, cwd: string): Promise<number> {
  const port = await freePort();
  await writeFile(join(cwd, 'server.ts'), code.replace('listen(3000)', `listen(${port})`));
  const server = spawn(process.execPath, ['server.ts'], { cwd, stdio: ['ignore', 'inherit', 'inherit'] });
  t.after(() => {
    server.kill();
  });
  await eventually(async () => {
    assert.equal((await fetch(`http://127.0.0.1:${port}/`)).status, 404);
  });
  return port;
}

/** Returns the output that a snippet promises, which is the text after each `→` in its comments. */
function promisedOutput({ code }: Snippet): string {
  return [...code.matchAll(/(?:\/\/|#) → (.+\n)/g)].map(([, line = '']) => line).join('');
}

function titleOf(snippet: Snippet): string {
  return `${snippet.name}: runs${promisedOutput(snippet) === '' ? '' : ', and prints what its comments say'}`;
}

/**
 * Creates a folder in which the built package and Express are installed, and an environment with `plant-store` on its
 * PATH.
 */
async function makeProject(t: HasAfter): Promise<{ cwd: string; env: NodeJS.ProcessEnv }> {
  const cwd = await temporaryFolder(t);
  await mkdir(join(cwd, 'node_modules'));
  await symlink(root, join(cwd, 'node_modules', 'plant-store'), 'dir');
  await symlink(join(root, 'node_modules/express'), join(cwd, 'node_modules/express'), 'dir');
  await writeFile(join(cwd, 'package.json'), '{"type":"module"}');
  const program = join(cwd, 'plant-store');
  const quoted = [process.execPath, main].map((part) => `'${part}'`).join(' ');
  await writeFile(program, `#!/bin/sh\nexec ${quoted} "$@"\n`);
  await chmod(program, 0o755);
  return { cwd, env: { ...plainEnvironment(), PATH: `${cwd}${delimiter}${process.env['PATH'] ?? ''}` } };
}

describe('snippets of README and docs', { concurrency: 3 }, () => {
  it('snippets are TypeScript, shell commands, diagrams or unlabeled', () => {
    const languages = new Set(snippets.map(({ language }) => language));
    assert.deepEqual([...languages].sort(), ['', 'mermaid', 'sh', 'ts']);
  });

  for (const snippet of typeScript.filter((each) => !isServer(each))) {
    it(titleOf(snippet), async (t) => {
      const { cwd } = await makeProject(t);
      await writeFile(join(cwd, 'snippet.ts'), snippet.code);
      const output = await runSuccessfully(process.execPath, ['snippet.ts'], { cwd });
      const promised = promisedOutput(snippet);
      if (promised === '') assertTestsPassed(output);
      else assert.equal(output, promised);
    });
  }

  for (const snippet of shell.filter((each) => !isForClone(each))) {
    it(titleOf(snippet), async (t) => {
      const { cwd, env } = await makeProject(t);
      let script = snippet.code;
      const before = snippets[snippets.indexOf(snippet) - 1];
      if (before !== undefined && isServer(before)) {
        const port = await startSnippet(t, before, cwd);
        script = script.replaceAll(':3000', `:${port}`);
      } else if (script.includes('http://127.0.0.1:3000')) {
        const { url } = await startServer(t, [], { cwd });
        env['TOKEN'] = (await readFile(join(cwd, 'first-token.txt'), 'utf8')).trimEnd();
        script = script.replaceAll('http://127.0.0.1:3000', url);
      }
      const output = await runSuccessfully('sh', ['-ec', script], { cwd, env });
      const promised = promisedOutput(snippet);
      if (promised !== '') assert.equal(output, promised);
    });
  }

  it('snippets for a clone are commands that CI runs', async () => {
    const readme = shell.filter(({ name, code }) => name.startsWith('README.md') && code.startsWith('npm '));
    const commands = readme.map(({ code }) => code.trimEnd());
    assert.deepEqual(commands, ['npm ci && npm start', 'npm ci && npm test']);
    // .ci/run takes the commands from README.md.
    const ci = await readDocument('.ci/run');
    for (const script of ['start', 'test']) assert.match(ci, new RegExp(`\\(readme_command ${script}\\)$`, 'm'));
  });
});
