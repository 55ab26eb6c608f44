import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { createServer, request as forward } from 'node:http';
import { delimiter, join } from 'node:path';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { chromium } from 'playwright-core';
import type { Locator, Page } from 'playwright-core';
import { listen } from '../../../support/listen.ts';
import { startDocsService } from '../../../support/docs-service.ts';
import type { HasAfter } from '../../../support/temporary-folder.ts';

/** Starts a proxy that removes the prefix `/garden`, as nginx does. Returns its URL with the prefix. */
async function startProxy(t: HasAfter, port: number): Promise<string> {
  const proxy = createServer((request, response) => {
    const { method, headers, url = '' } = request;
    const target = `http://127.0.0.1:${port}${url.replace(/^\/garden/, '')}`;
    const forwarded = forward(target, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(response);
    });
    request.pipe(forwarded);
  });
  return `http://127.0.0.1:${await listen(t, proxy)}/garden`;
}

/** What a page did besides showing its content. */
interface Observed {
  readonly page: Page;
  /** Console messages, uncaught errors and violations of the Content-Security-Policy. */
  readonly complaints: string[];
  /** The method, the URL and the body of each request. */
  readonly requests: string[];
}

function findChromium(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.map((folder) => join(folder, 'chromium')).find((path) => existsSync(path));
}

/** Opens a URL in Chromium; `undefined` if it is not installed, and then the test is skipped. */
async function openPage(t: TestContext, url: string, width: number): Promise<Observed | undefined> {
  const executablePath = findChromium();
  if (executablePath === undefined) {
    console.log('NOT RUN: the test of the page in a browser needs chromium, which is not installed.');
    t.skip('chromium is not installed');
    return undefined;
  }
  // Chromium has no sandbox for root.
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  t.after(() => browser.close());
  const page = await browser.newPage({ viewport: { width, height: 900 } });
  const complaints: string[] = [];
  const requests: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith('data:')) {
      requests.push(`${request.method()} ${request.url()} ${request.postData() ?? ''}`);
    }
  });
  await page.exposeFunction('reportViolation', (text: string) => complaints.push(text));
  await page.addInitScript(
    `document.addEventListener('securitypolicyviolation', (event) =>
       reportViolation(event.violatedDirective + ' ' + event.blockedURI));`,
  );
  await page.goto(url);
  return { page, complaints, requests };
}

async function authorize(page: Page, token: string): Promise<void> {
  await page.locator('button.authorize').first().click();
  const dialog = page.locator('.modal-ux');
  await dialog.locator('input').fill(token);
  await dialog.locator('button.authorize').click();
  await dialog.locator('.btn-done').click();
}

/** Opens an operation, fills its field if it has one, executes it, and returns the status and the body. */
async function execute(operation: Locator, field?: { selector: string; text: string }): Promise<[string, string]> {
  await operation.locator('.opblock-summary-control').click();
  if (field !== undefined) await operation.locator(field.selector).fill(field.text);
  await operation.locator('button.execute').click();
  const response = operation.locator('.live-responses-table tbody');
  const status = await response.locator('.response-col_status').innerText();
  const body = response.locator('.response-col_description .highlight-code code');
  return [status.trim(), (await body.count()) === 0 ? '' : (await body.first().innerText()).replaceAll(/\s/g, '')];
}

describe('the page of serve --docs in Chromium', () => {
  for (const { name, width, basePath } of [
    { name: 'on a wide screen', width: 1280, basePath: '' },
    { name: 'on a phone, behind a proxy that removes a prefix', width: 390, basePath: '/garden' },
  ]) {
    it(`creates, lists and deletes a plant ${name}`, { timeout: 120_000 }, async (t) => {
      const port = await startDocsService(t, { basePath });
      const url = basePath === '' ? `http://127.0.0.1:${port}` : await startProxy(t, port);
      const observed = await openPage(t, `${url}/docs`, width);
      if (observed === undefined) return;
      const { page, complaints, requests } = observed;
      await authorize(page, 'ada');

      // JSON.parse would change the id to 9007199254740992, and the spaces would be lost.
      const plant = '{ "id":  9007199254740993, "name": "Fern", "tag": "indoor" }';
      const create = page.locator('.opblock-post');
      const created = await execute(create, { selector: 'textarea.body-param__text', text: plant });
      assert.deepEqual(created, ['200', '{"name":"Fern","tag":"indoor"}']);
      const list = page.locator('.opblock-get').first();
      assert.deepEqual(await execute(list), ['200', '[{"name":"Fern","tag":"indoor"}]']);
      const remove = page.locator('.opblock-delete');
      const field = { selector: '.parameters input', text: '9007199254740993' };
      assert.deepEqual(await execute(remove, field), ['204', '']);

      assert.deepEqual(complaints, []);
      assert.deepEqual(
        requests.filter((request) => request.includes('/plants')),
        [`POST ${url}/plants ${plant}`, `GET ${url}/plants `, `DELETE ${url}/plants/9007199254740993 `],
      );
      assert.deepEqual(
        requests.filter((request) => !request.includes(` ${url}/`)),
        [],
      );
      const contentWidth = await page.evaluate<number>('document.documentElement.scrollWidth');
      assert.ok(contentWidth <= width, `The content is ${contentWidth} pixels wide.`);
    });
  }

  it('omits HEAD, OPTIONS, response headers and the bodies of errors', { timeout: 120_000 }, async (t) => {
    const observed = await openPage(t, `http://127.0.0.1:${await startDocsService(t)}/docs`, 390);
    if (observed === undefined) return;
    const { page, complaints } = observed;
    await page.locator('.opblock').first().waitFor();
    const operations = await page.locator('.opblock:visible').all();
    const shown = operations.map((one) =>
      one.locator('.opblock-summary-method, .opblock-summary-path').allInnerTexts(),
    );
    assert.deepEqual(await Promise.all(shown), [
      ['GET', '/plants'],
      ['POST', '/plants'],
      ['DELETE', '/plants/{id}'],
      ['GET', '/openapi.json'],
    ]);
    for (const operation of operations) {
      await operation.locator('.opblock-summary-control').click();
      await operation.locator('.responses-table .response').first().waitFor();
    }
    const responses = page.locator('.responses-table .response');
    assert.equal(await responses.getByText('Headers:').filter({ visible: true }).count(), 0);
    // GET /plants, POST /plants and GET /openapi.json have a successful response with a body.
    assert.equal(await responses.locator('.model-example:visible').count(), 3);
    assert.deepEqual(complaints, []);
  });
});
