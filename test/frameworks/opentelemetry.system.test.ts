import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { MemoryStorage } from '../../src/index.ts';
import { eventuallyEqual } from '../support/eventually.ts';
import { startHeldService, startService } from '../support/service.ts';
import { arePackagesInstalled, examples } from './program.ts';

// These types are declared here, because the packages are installed only with the examples.
interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
}
interface Span {
  readonly name: string;
  readonly status: { readonly code: number };
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly parentSpanContext?: SpanContext;
  readonly links: readonly { readonly context: SpanContext }[];
  spanContext(): SpanContext;
}
interface Exporter {
  getFinishedSpans(): Span[];
  reset(): void;
}
interface Sdk {
  readonly InMemorySpanExporter: new () => Exporter;
  readonly SimpleSpanProcessor: new (exporter: Exporter) => object;
}

let exporter: Exporter | undefined;

/** Runs the example in this process, and returns where it exports its spans. The example can be started only once. */
async function startTracing(): Promise<Exporter> {
  if (exporter === undefined) {
    const load = createRequire(join(examples, 'package.json'));
    const { InMemorySpanExporter, SimpleSpanProcessor } = load('@opentelemetry/sdk-trace-node') as Sdk;
    exporter = new InMemorySpanExporter();
    const url = pathToFileURL(join(examples, 'opentelemetry.ts')).href;
    const { tracePlants } = (await import(url)) as { tracePlants: (spanProcessors: object[]) => void };
    tracePlants([new SimpleSpanProcessor(exporter)]);
  }
  exporter.reset();
  return exporter;
}

const users = ['ada', 'bob', 'eve'];
const clientOf = (user: string): SpanContext => {
  const digit = users.indexOf(user) + 1;
  return { traceId: `${digit}`.repeat(32), spanId: `${digit}`.repeat(16) };
};

async function create(url: string, user: string): Promise<number> {
  const { traceId, spanId } = clientOf(user);
  const traceparent = `00-${traceId}-${spanId}-01`;
  const headers = { authorization: `Bearer ${user}`, 'content-type': 'application/json', traceparent };
  return (await fetch(`${url}/plants`, { method: 'POST', headers, body: '{"id":1,"name":"Fern"}' })).status;
}

describe('examples/frameworks/opentelemetry.ts', () => {
  it('makes each request span a child of the client span, and links each commit to its requests', async (t) => {
    if (!arePackagesInstalled(t)) return;
    const tracing = await startTracing();
    const { url, store, release } = await startHeldService(t);
    const statuses: Promise<number>[] = [];
    for (const user of users) {
      statuses.push(create(url, user));
      await eventuallyEqual(() => store.pendingWrites, statuses.length);
    }
    release();
    assert.deepEqual(await Promise.all(statuses), [200, 200, 200]);
    await eventuallyEqual(() => tracing.getFinishedSpans().filter(({ name }) => name === 'POST /plants').length, 3);

    const spans = tracing.getFinishedSpans();
    const requestOf = (user: string): Span =>
      spans.find(({ parentSpanContext }) => parentSpanContext?.spanId === clientOf(user).spanId) ?? assert.fail(user);
    const ids = users.map((user) => requestOf(user).spanContext().spanId);
    for (const user of users) {
      assert.equal(requestOf(user).spanContext().traceId, clientOf(user).traceId);
      assert.equal(requestOf(user).attributes['http.response.status_code'], 200);
    }
    const commits = spans.filter(({ name }) => name === 'commit');
    assert.deepEqual(commits.flatMap(({ links }) => links.map(({ context }) => context.spanId)).sort(), ids.sort());
    assert.ok(commits.every(({ parentSpanContext }) => parentSpanContext === undefined));
  });

  it('marks a failed commit and its request as errors', async (t) => {
    if (!arePackagesInstalled(t)) return;
    const tracing = await startTracing();
    const storage = new MemoryStorage();
    storage.commit = () => Promise.reject(new Error('The disk failed'));
    const { url } = await startService(t, { storage });
    assert.equal(await create(url, 'ada'), 503);
    await eventuallyEqual(
      () =>
        tracing
          .getFinishedSpans()
          .map(({ status }) => status.code)
          .join(),
      '2,2',
    );
  });
});
