import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { describe, it } from 'node:test';
import { startProgram } from './frameworks/program.ts';
import { startServer } from './support/command-line.ts';
import { documents, parsePage, readDocument, readSnippets } from './support/documents.ts';
import type { Snippet } from './support/documents.ts';
import { assertTestsPassed, plainEnvironment, runSuccessfully } from './support/run-program.ts';
import type { ServerProcess } from './support/server-process.ts';
import { main, root } from './support/sources.ts';
import { temporaryFolder } from './support/temporary-folder.ts';
import type { HasAfter } from './support/temporary-folder.ts';

const snippets = await readSnippets();

/** Returns whether a snippet is a server, which the shell commands in the next snippet call. */
const isServer = ({ language, code }: Snippet): boolean => language === 'ts' && code.includes('.listen(3000)');

/** Starts a server of the documentation on a free port. */
async function startSnippet(t: HasAfter, { code }: Snippet, cwd: string): Promise<ServerProcess> {
  const listen = "listen(0).once('listening', function () { console.log(`port: ${this.address().port}`); })";
  await writeFile(join(cwd, 'server.ts'), code.replace('listen(3000)', listen));
  return startProgram(t, [process.execPath, 'server.ts'], cwd);
}

/** Returns the output that a snippet promises, which is the text after each `→` in its comments. */
function promisedOutput({ code }: Snippet): string {
  return [...code.matchAll(/(?:\/\/|#) → (.+\n)/g)].map(([, line = '']) => line).join('');
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

async function runTypeScript(t: HasAfter, snippet: Snippet): Promise<void> {
  const { cwd } = await makeProject(t);
  await writeFile(join(cwd, 'snippet.ts'), snippet.code);
  const promised = promisedOutput(snippet);
  // The program must also work if a reader runs it again: the file of the first run then exists.
  for (let run = 0; run < (snippet.code.includes('plants.db') ? 2 : 1); run++) {
    const output = await runSuccessfully(process.execPath, ['snippet.ts'], { cwd });
    if (promised === '') assertTestsPassed(output);
    else assert.equal(output, promised);
  }
}

async function runShell(t: HasAfter, snippet: Snippet): Promise<void> {
  const { cwd, env } = await makeProject(t);
  let script = snippet.code;
  if (script.includes('http://127.0.0.1:3000')) {
    const before = snippets[snippets.indexOf(snippet) - 1];
    const isOfSnippet = before !== undefined && isServer(before);
    const { url } = await (isOfSnippet ? startSnippet(t, before, cwd) : startServer(t, [], { cwd }));
    if (!isOfSnippet) env['TOKEN'] = (await readFile(join(cwd, 'first-token.txt'), 'utf8')).trimEnd();
    script = script.replaceAll('http://127.0.0.1:3000', url);
  }
  const output = await runSuccessfully('sh', ['-ec', script], { cwd, env });
  const promised = promisedOutput(snippet);
  if (promised !== '') assert.equal(output, promised);
}

describe('documents', { concurrency: 2 }, () => {
  it('documents contain snippets in TypeScript, which print what their comments say', { concurrency: 3 }, async (t) => {
    const languages = new Set(snippets.map(({ language }) => language));
    assert.deepEqual([...languages].sort(), ['', 'mermaid', 'sh', 'ts']);
    const run = snippets.filter((snippet) => snippet.language === 'ts' && !isServer(snippet));
    await Promise.all(run.map((snippet) => t.test(snippet.name, (t) => runTypeScript(t, snippet))));
  });

  it('documents contain shell commands, which print what their comments say', { concurrency: 3 }, async (t) => {
    // .ci/run runs the commands for a clone.
    const run = snippets.filter(({ language, code }) => language === 'sh' && !code.startsWith('npm '));
    await Promise.all(run.map((snippet) => t.test(snippet.name, (t) => runShell(t, snippet))));
  });

  it('README › contains commands for a clone that .ci/run also runs', async () => {
    const ofClone = snippets.filter(({ name, code }) => name.startsWith('README.md') && code.startsWith('npm '));
    assert.equal(ofClone.map(({ code }) => code).join(''), 'npm ci && npm start\nnpm ci && npm test\n');
    const ci = await readDocument('.ci/run');
    for (const script of ['start', 'test']) assert.match(ci, new RegExp(`\\(readme_command ${script}\\)$`, 'm'));
  });

  it('documents have unique headings, and relative links to files and headings that exist', async () => {
    for (const path of documents) {
      const { anchors, links } = await parsePage(path);
      assert.equal(new Set(anchors).size, anchors.length, `Two headings of ${path} have the same anchor.`);
      for (const { target, anchor } of links) {
        assert.ok(existsSync(join(root, target)), `${path} links to ${target}, which does not exist`);
        if (anchor === undefined) continue;
        const { anchors } = await parsePage(target);
        assert.ok(anchors.includes(anchor), `${path} links to ${target}#${anchor}, which is not a heading`);
      }
    }
  });

  it('documents name only source files that exist', async () => {
    const text = (await Promise.all(documents.map(readDocument))).join('');
    const files = Array.from(text.matchAll(/`(?:src\/)?([a-z]+\/[\w/-]+\.ts)`/g), ([, file = '']) => file);
    assert.ok(files.length > 20);
    const missing = files.filter((file) => !existsSync(join(root, 'src', file)) && !existsSync(join(root, file)));
    assert.deepEqual(missing, []);
  });

  it('README › links to every document', async () => {
    const { links } = await parsePage('README.md');
    const missing = documents.filter((path) => path !== 'README.md' && !links.some(({ target }) => target === path));
    assert.deepEqual(missing, []);
  });

  it('docs/integrations.md › lists every example, with the tested versions', async () => {
    const page = await readDocument('docs/integrations.md');
    const rows = [...page.matchAll(/^\| [^|]*\]\(\.\.\/examples\/frameworks\/([\w.-]+)\) +\| ([^|]*) \|$/gm)];
    const files = (await readdir(join(root, 'examples/frameworks'))).filter((name) => name.endsWith('.ts'));
    assert.deepEqual([...new Set(rows.map(([, file]) => file))].sort(), files.sort());
    type Lockfile = Readonly<{ packages: Readonly<Record<string, { readonly version?: string }>> }>;
    const folders = ['examples/frameworks', 'test/frameworks', 'test/runtimes'];
    const texts = await Promise.all(folders.map((folder) => readDocument(`${folder}/package-lock.json`)));
    const packages = texts.map((text) => (JSON.parse(text) as Lockfile).packages);
    const tested = rows.flatMap(([, , cell = '']) => [...cell.matchAll(/`(\S+)` (\d[\w.-]*)/g)]);
    assert.ok(tested.length > 10);
    for (const [, name = '', version] of tested) {
      assert.equal(packages.map((each) => each[`node_modules/${name}`]?.version).find(Boolean), version, name);
    }
  });
});
