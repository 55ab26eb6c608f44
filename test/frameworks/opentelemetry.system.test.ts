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
  readonly kind: number;
}

/** `SpanKind.SERVER` */
const serverKind = 1;

const printSpans = `
  console.log(JSON.stringify(exporter.getFinishedSpans().map((span) => ({
    name: span.name,
    id: span.spanContext().spanId,
    trace: span.spanContext().traceId,
    parent: span.parentSpanContext?.spanId,
    links: span.links.map(({ context }) => context.spanId),
    isError: span.status.code === 2,
    kind: span.kind,
  }))));
`;

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
  ${printSpans}`;

/** Creates a plant over HTTP, in a process with HTTP instrumentation. Prints the spans. */
const instrumentedProgram = `
  import { HttpInstrumentation } from '@opentelemetry/instrumentation-http';
  import { InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-node';
  import { once } from 'node:events';
  import { createRequire } from 'node:module';
  import { tracePlants } from './opentelemetry.ts';

  const exporter = new InMemorySpanExporter();
  tracePlants([new SimpleSpanProcessor(exporter)]);
  new HttpInstrumentation();
  createRequire(import.meta.url)('node:http');
  const { MemoryStorage, PlantStore } = await import('plant-store');
  const { createPlantServer } = await import('plant-store/http');
  const store = new PlantStore({ storage: new MemoryStorage() });
  const server = createPlantServer(store, { authenticate: (user) => ({ user }) }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const headers = { authorization: 'Bearer ada', 'content-type': 'application/json' };
  headers.traceparent = '00-' + '1'.repeat(32) + '-' + '1'.repeat(16) + '-01';
  const url = 'http://127.0.0.1:' + server.address().port + '/plants';
  await (await fetch(url, { method: 'POST', headers, body: '{"id":1,"name":"Fern"}' })).text();
  server.close();
  ${printSpans}`;

async function spansOf(program: string): Promise<Span[]> {
  const args = ['--input-type=module', '--eval', program];
  return JSON.parse(await runSuccessfully(process.execPath, args, { cwd: examples })) as Span[];
}

it('opentelemetry.ts makes each request a child of the client span, and links each commit to its requests', async (t) => {
  if (!arePackagesInstalled(t)) return;
  const spans = await spansOf(program);
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

it('opentelemetry.ts makes the span of the HTTP instrumentation the parent', async (t) => {
  if (!arePackagesInstalled(t)) return;
  const spans = await spansOf(instrumentedProgram);
  const [server, ...others] = spans.filter(({ kind }) => kind === serverKind);
  assert.ok(server);
  assert.deepEqual(others, []);
  const request = spans.find(({ parent }) => parent === server.id);
  assert.equal(request?.name, 'POST /plants');
  assert.deepEqual([server.trace, server.parent], ['1'.repeat(32), '1'.repeat(16)]);
  assert.equal(request.trace, server.trace);
});
