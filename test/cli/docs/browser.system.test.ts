import assert from 'node:assert/strict';
import { it } from 'node:test';
import { chromium } from 'playwright-core';
import type { Locator } from 'playwright-core';
import { startDocsService } from '../../support/docs-service.ts';
import { runSuccessfully } from '../../support/run-program.ts';
import { hasProgram } from '../../support/system-fault.ts';

/** Opens an operation, fills in its field, if any, and executes the operation. Returns the status and the body. */
async function execute(operation: Locator, field?: { selector: string; text: string }): Promise<[string, string]> {
  await operation.locator('.opblock-summary-control').click();
  if (field !== undefined) await operation.locator(field.selector).fill(field.text);
  await operation.locator('button.execute').click();
  const response = operation.locator('.live-responses-table tbody');
  const status = await response.locator('.response-col_status').innerText();
  const body = response.locator('.response-col_description .highlight-code code');
  return [status.trim(), (await body.count()) === 0 ? '' : (await body.first().innerText()).replaceAll(/\s/g, '')];
}

it('page of serve --docs in Chromium › creates, lists and deletes a plant under a prefix', async (t) => {
  if (!hasProgram(t, 'chromium')) return;
  const url = `${await startDocsService(t)}/garden`;
  const executablePath = (await runSuccessfully('sh', ['-c', 'command -v chromium'])).trim();
  // Chromium cannot use its sandbox when it runs as root.
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  t.after(() => browser.close());
  const page = await browser.newPage();
  /** Console messages, uncaught errors and Content Security Policy violations. */
  const complaints: string[] = [];
  const requests: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith('data:')) {
      requests.push(`${request.method()} ${request.url()} ${request.postData() ?? ''}`);
    }
  });

  await page.goto(`${url}/docs`);
  await page.locator('button.authorize').first().click();
  const dialog = page.locator('.modal-ux');
  await dialog.locator('input').fill('ada');
  await dialog.locator('button.authorize').click();
  await dialog.locator('.btn-done').click();
  // If the page used JSON.parse, it would change the id to 9007199254740992 and lose the spaces.
  const plant = '{ "id":  9007199254740993, "name": "Fern", "tag": "indoor" }';
  const body = { selector: 'textarea.body-param__text', text: plant };
  assert.deepEqual(await execute(page.locator('.opblock-post'), body), ['200', '{"name":"Fern","tag":"indoor"}']);
  const listed = await execute(page.locator('.opblock-get').first());
  assert.deepEqual(listed, ['200', '[{"name":"Fern","tag":"indoor"}]']);
  const id = { selector: '.parameters input', text: '9007199254740993' };
  assert.deepEqual(await execute(page.locator('.opblock-delete'), id), ['204', '']);

  assert.deepEqual(complaints, []);
  const sent = requests.filter((request) => request.includes('/plants'));
  assert.deepEqual(sent, [`POST ${url}/plants ${plant}`, `GET ${url}/plants `, `DELETE ${url}/plants/${id.text} `]);
  for (const request of requests) assert.ok(request.includes(` ${url}/`), request);
});
