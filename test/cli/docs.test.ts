import assert from 'node:assert/strict';
import { it } from 'node:test';
import { startDocsService } from '../support/docs-service.ts';

const mediaTypes = {
  '/docs': 'text/html',
  '/docs/swagger-ui.css': 'text/css',
  '/docs/start.js': 'text/javascript',
  '/docs/swagger-ui-bundle.js': 'text/javascript',
};

it('page of serve --docs › is served with and without the base path, with a Content Security Policy', async (t) => {
  const url = await startDocsService(t);
  for (const prefix of [url, `${url}/garden`]) {
    for (const [path, mediaType] of Object.entries(mediaTypes)) {
      const { status, headers } = await fetch(prefix + path, { method: 'HEAD' });
      assert.deepEqual([status, headers.get('content-type')], [200, `${mediaType}; charset=utf-8`], path);
      assert.equal(headers.get('x-content-type-options'), 'nosniff');
      const policy = headers.get('content-security-policy') ?? '';
      assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; /);
      assert.doesNotMatch(policy, /unsafe|\*|https?:/);
      assert.notEqual(await (await fetch(prefix + path)).text(), '');
      for (const method of ['OPTIONS', 'POST']) assert.equal((await fetch(prefix + path, { method })).status, 404);
    }
    const redirected = await fetch(`${prefix}/docs/`);
    assert.deepEqual([redirected.status, redirected.url], [200, `${prefix}/docs`]);
  }
  for (const path of ['/gardendocs', '/garden/garden/docs', '/lawn/docs', '/docs/x']) {
    assert.equal((await fetch(url + path)).status, 404, path);
  }
});
