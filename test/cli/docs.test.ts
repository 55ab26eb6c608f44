import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startServer } from '../support/command-line.ts';
import { startDocsService } from '../support/docs-service.ts';
import { exchange, get } from '../support/raw-http.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const files: [path: string, mediaType: string][] = [
  ['/docs', 'text/html; charset=utf-8'],
  ['/docs/swagger-ui.css', 'text/css; charset=utf-8'],
  ['/docs/start.js', 'text/javascript; charset=utf-8'],
  ['/docs/swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
];

describe('the page of serve --docs', () => {
  it('is served with and without the base path, with media types and a Content Security Policy', async (t) => {
    const url = `http://127.0.0.1:${await startDocsService(t, { basePath: '/garden' })}`;
    for (const [path, mediaType] of files.flatMap(([path, type]) => [
      [path, type] as const,
      [`/garden${path}`, type],
    ])) {
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
    const others = ['/gardendocs', '/garden/garden/docs', '/garden/docs/x', '/lawn/docs', '/Docs', '/docs/', '//docs'];
    for (const path of [...others, '/', '/doc', '/docs2', '/docs/index.html']) {
      assert.equal((await fetch(url + path)).status, 404, path);
    }
  });

  it('works under any prefix, because its URLs are relative', async (t) => {
    const url = `http://127.0.0.1:${await startDocsService(t)}`;
    const html = await (await fetch(`${url}/docs`)).text();
    const linked = [...html.matchAll(/(?:href|src)="(docs[^"]*)"/g)].map(([, link = '']) => `/${link}`);
    const others = files.map(([path]) => path).filter((path) => path !== '/docs');
    assert.deepEqual(linked.toSorted(), others.toSorted());
    assert.match(await (await fetch(`${url}/docs/start.js`)).text(), /url: 'openapi\.json'/);
  });
});

describe('pipelined requests for the page', () => {
  it('close the connection, so that a client cannot make the server keep many copies', async (t) => {
    const text = get('/docs/start.js').repeat(2) + get('/docs', 'Connection: close\r\n');
    const received = await exchange(t, await startDocsService(t), text);
    assert.ok(received.split('HTTP/1.1 200').length <= 2, received);
  });
});

describe('plant-store serve --docs', { concurrency: 4 }, () => {
  for (const [name, args, env, status] of [
    ['is served with --docs', ['--docs'], {}, 200],
    ['is served with PLANT_STORE_DOCS=1', [], { PLANT_STORE_DOCS: '1' }, 200],
    ['is not served with PLANT_STORE_DOCS=0', [], { PLANT_STORE_DOCS: '0' }, 404],
  ] as const) {
    it(`${name}, and the URL is printed only if the page is served`, async (t) => {
      const server = await startServer(t, ['--storage', 'memory', ...args], { cwd: await temporaryFolder(t), env });
      assert.equal((await fetch(`${server.url}/docs`)).status, status);
      const hasUrl = server.stdout().includes(`\nTry it in a browser: ${server.url}/docs\n`);
      assert.equal(hasUrl, status === 200, server.stdout());
    });
  }
});
