import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startServer } from './helpers/command-line.ts';
import { assertTestsPassed, plainEnvironment, runScript, tsx } from './helpers/run-script.ts';
import { temporaryFolder } from './helpers/temporary-folder.ts';
import type { HasAfter } from './helpers/temporary-folder.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const readme = await readFile(join(root, 'README.md'), 'utf8');
const main = join(root, 'src', 'cli', 'main.ts');

interface Snippet {
  readonly language: string;
  readonly code: string;
}

const snippets: Snippet[] = [...readme.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = '', code = '']) => ({ language, code }));

/** What a snippet says it prints: `→` in comments, the items of one line apart by commas or in lines of their own. */
function promised({ code }: Snippet): string[] {
  return [...code.matchAll(/(?:\/\/|#) → (.+)$/gm)].map(([, line = '']) => line);
}

/** A folder that has the built package installed, and `plant-store` from the sources on its PATH. */
async function makeProject(t: HasAfter): Promise<{ cwd: string; env: NodeJS.ProcessEnv }> {
  const cwd = await temporaryFolder(t);
  await mkdir(join(cwd, 'node_modules'));
  await symlink(root, join(cwd, 'node_modules', 'plant-store'), 'dir');
  await writeFile(join(cwd, 'package.json'), '{"type":"module"}');
  const command = join(cwd, 'plant-store');
  await writeFile(command, `#!/bin/sh\nexec '${process.execPath}' --import '${tsx}' '${main}' "$@"\n`);
  await chmod(command, 0o755);
  return { cwd, env: { ...plainEnvironment(), PATH: `${cwd}${delimiter}${process.env['PATH'] ?? ''}` } };
}

describe('README', () => {
  it('has code in the languages that are tried here, and no other', () => {
    assert.deepEqual([...new Set(snippets.map(({ language }) => language))].sort(), ['sh', 'ts']);
    assert.equal(snippets.filter(({ language }) => language === 'ts').length, 6);
    assert.equal(snippets.filter(({ language }) => language === 'sh').length, 5);
  });

  for (const [index, snippet] of snippets.filter(({ language }) => language === 'ts').entries()) {
    it(`has a TypeScript snippet ${index + 1} that runs and prints what it says`, async (t) => {
      const { cwd } = await makeProject(t);
      await writeFile(join(cwd, 'snippet.ts'), snippet.code);
      const stdout = await runScript(process.execPath, ['--import', tsx, 'snippet.ts'], { cwd });
      const lines = promised(snippet).flatMap((line) => (/^[\d, ]+$/.test(line) ? line.split(', ') : [line]));
      if (lines.length > 0) assert.deepEqual(stdout.trimEnd().split('\n'), lines);
      else assertTestsPassed(stdout);
    });
  }

  it('has TypeScript snippets whose types are right', async (t) => {
    const { cwd } = await makeProject(t);
    await symlink(join(root, 'node_modules', '@types'), join(cwd, 'node_modules', '@types'), 'dir');
    const files = snippets.filter(({ language }) => language === 'ts').map(({ code }, index) => ({ name: `snippet-${index}.ts`, code }));
    for (const { name, code } of files) await writeFile(join(cwd, name), code);
    const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2023', '--types', 'node'];
    const tsc = fileURLToPath(import.meta.resolve('typescript/bin/tsc'));
    await runScript(process.execPath, [tsc, ...options, ...files.map(({ name }) => name)], { cwd });
  });

  it('has two commands to try it, which CI runs as they stand', async () => {
    const commands = snippets.filter(({ code }) => code.startsWith('npm ')).map(({ code }) => code.trim());
    assert.deepEqual(commands, ['npm ci && npm start', 'npm ci && npm test']);
    const ci = await readFile(join(root, '.ci', 'run'), 'utf8');
    for (const command of commands) assert.ok(ci.includes(`\n${command}`), `.ci/run does not run ${command}`);
  });

  it('starts the service as it says', async (t) => {
    const { cwd, env } = await makeProject(t);
    const start = snippets.find(({ code }) => code === 'plant-store serve\n');
    assert.ok(start);
    const child = spawn('sh', ['-c', `exec ${start.code}`], { cwd, env: { ...env, PORT: '0' }, stdio: ['ignore', 'pipe', 'ignore'] });
    t.after(() => child.kill('SIGKILL'));
    const [first] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
    assert.match(first, /^Plant Store listening on http:\/\/127\.0\.0\.1:\d+\n/);
    child.kill('SIGTERM');
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  });

  it('has a session with curl that gives what it says', async (t) => {
    const { cwd, env } = await makeProject(t);
    const session = snippets.find(({ code }) => code.includes('curl'));
    assert.ok(session);
    const server = await startServer(t, [], { cwd });
    const TOKEN = (await readFile(join(cwd, 'first-token.txt'), 'utf8')).trimEnd();
    const script = session.code.replaceAll('http://127.0.0.1:3000', server.url);
    const stdout = await runScript('sh', ['-ec', script], { cwd, env: { ...env, TOKEN } });
    assert.deepEqual(stdout.trimEnd().split('\n'), promised(session));
  });

  it('makes, lists and revokes tokens as it says', async (t) => {
    const { cwd, env } = await makeProject(t);
    const commands = snippets.find(({ code }) => code.includes('token create'));
    assert.ok(commands);
    const lines = (await runScript('sh', ['-ec', commands.code], { cwd, env })).trimEnd().split('\n');
    assert.match(lines[0] ?? '', /^pst_\w{36}$/);
    assert.match(lines[1] ?? '', /^pst_\w{36}$/);
    assert.equal(lines.length, 5, lines.join('\n'));
    const { tokens } = JSON.parse(await readFile(join(cwd, 'tokens.json'), 'utf8')) as { tokens: { user: string; scopes?: string[] }[] };
    assert.deepEqual(tokens.map(({ user, scopes }) => [user, scopes]), [['ada', undefined]]);
  });
});
