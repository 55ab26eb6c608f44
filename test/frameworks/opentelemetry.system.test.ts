import assert from 'node:assert/strict';
import { it } from 'node:test';
import { runSuccessfully } from '../support/run-program.ts';
import { arePackagesInstalled, examples } from './program.ts';

interface Span {
  readonly name: string;
  readonly id: string;
  readonly trace: string;
  readonly parent?: string;
  readonly links: readonly string[];
  readonly isError: boolean;
}

/** Creates plants of three users at the same time, then a plant whose commit fails. Prints the spans. */
const program = `
  import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
  import { MemoryStorage, PlantStore } from 'plant-store';
  import { createFetchHandler } from 'plant-store/fetch';
  import { tracePlants } from './opentelemetry.ts';

  const exporter = new InMemorySpanExporter();
  tracePlants([new SimpleSpanProcessor(exporter)]);
  const storage = new MemoryStorage();
  const plants = createFetchHandler(new PlantStore({ storage }), { authenticate: (user) => ({ user }), onError() {} });
  const create = async (digit) => {
    const traceparent = '00-' + digit.repeat(32) + '-' + digit.repeat(16) + '-01';
    const headers = { authorization: 'Bearer user-' + digit, 'content-type': 'application/json', traceparent };
    const request = new Request('http://test/plants', { method: 'POST', headers, body: '{"id":1,"name":"Fern"}' });
    await (await plants(request)).text();
  };
  await Promise.all(['1', '2', '3'].map(create));
  storage.commit = () => Promise.reject(new Error('The disk failed'));
  await create('4');
  console.log(JSON.stringify(exporter.getFinishedSpans().map((span) => ({
    name: span.name,
    id: span.spanContext().spanId,
    trace: span.spanContext().traceId,
    parent: span.parentSpanContext?.spanId,
    links: span.links.map(({ context }) => context.spanId),
    isError: span.status.code === 2,
  }))));
`;

it('opentelemetry.ts makes each request a child of the client span, and links each commit to its requests', async (t) => {
  if (!arePackagesInstalled(t)) return;
  const args = ['--input-type=module', '--eval', program];
  const spans = JSON.parse(await runSuccessfully(process.execPath, args, { cwd: examples })) as Span[];
  const requests = spans.filter(({ name }) => name === 'POST /plants');
  assert.deepEqual(
    requests.map(({ parent, trace, isError }) => `${parent} ${trace} ${isError}`).sort(),
    ['1', '2', '3', '4'].map((digit) => `${digit.repeat(16)} ${digit.repeat(32)} ${digit === '4'}`),
  );
  const commits = spans.filter(({ name }) => name === 'commit');
  assert.deepEqual(commits.flatMap(({ links }) => links).sort(), requests.map(({ id }) => id).sort());
  assert.deepEqual(
    commits.map(({ parent, isError }) => [parent, isError]),
    [...Array<unknown>(commits.length - 1).fill([undefined, false]), [undefined, true]],
  );
});
