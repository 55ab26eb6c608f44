import assert from 'node:assert/strict';
import { it } from 'node:test';
import { startServer } from '../support/command-line.ts';
import { startDocsService } from '../support/docs-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const files: [path: string, mediaType: string][] = [
  ['/docs', 'text/html; charset=utf-8'],
  ['/docs/swagger-ui.css', 'text/css; charset=utf-8'],
  ['/docs/start.js', 'text/javascript; charset=utf-8'],
  ['/docs/swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
];

it('page of serve --docs › is served with and without the base path, with a Content Security Policy', async (t) => {
  const url = `http://127.0.0.1:${await startDocsService(t, { basePath: '/garden' })}`;
  for (const [path, mediaType] of files.flatMap(([path, type]) => [[path, type] as const, [`/garden${path}`, type]])) {
    const response = await fetch(url + path);
    const body = Buffer.from(await response.arrayBuffer());
    const { status, headers } = response;
    assert.deepEqual([status, headers.get('content-type'), body.length > 0], [200, mediaType, true], path);
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    const policy = headers.get('content-security-policy') ?? '';
    assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; /);
    assert.doesNotMatch(policy, /unsafe|\*|https?:/);
    assert.equal((await fetch(url + path, { method: 'HEAD' })).status, 200);
    for (const method of ['OPTIONS', 'POST']) assert.equal((await fetch(url + path, { method })).status, 404);
  }
  for (const path of ['/gardendocs', '/garden/garden/docs', '/lawn/docs', '/docs/x']) {
    assert.equal((await fetch(url + path)).status, 404, path);
  }
  for (const prefix of [url, `${url}/garden`]) {
    const response = await fetch(`${prefix}/docs/`);
    assert.deepEqual([response.status, response.url], [200, `${prefix}/docs`]);
  }
});

it('plant-store serve --docs › prints the URL of the page, unless PLANT_STORE_DOCS is 0', async (t) => {
  const cwd = await temporaryFolder(t);
  for (const [args, PLANT_STORE_DOCS, status] of [
    [['--docs'], '', 200],
    [[], '1', 200],
    [[], '0', 404],
  ] as const) {
    const server = await startServer(t, ['--storage', 'memory', ...args], { cwd, env: { PLANT_STORE_DOCS } });
    assert.equal((await fetch(`${server.url}/docs`)).status, status);
    assert.equal(server.stdout().includes(`${server.url}/docs\n`), status === 200, server.stdout());
  }
});
