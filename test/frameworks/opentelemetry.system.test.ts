import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { Authenticate } from '../../src/http.ts';
import { MemoryStorage } from '../../src/index.ts';
import { eventuallyEqual } from '../support/eventually.ts';
import { authenticateByName, startHeldService, startService } from '../support/service.ts';
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
  readonly events: readonly { readonly attributes: Readonly<Record<string, unknown>> }[];
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
interface Api {
  readonly trace: { getActiveSpan(): Pick<Span, 'spanContext'> | undefined };
}

const load = createRequire(join(examples, 'package.json'));

function activeSpanId(): string | undefined {
  return (load('@opentelemetry/api') as Api).trace.getActiveSpan()?.spanContext().spanId;
}

let exporter: Exporter | undefined;

/** Runs the example in this process, and returns where it exports its spans. The example can be started only once. */
async function startTracing(): Promise<Exporter> {
  if (exporter === undefined) {
    const { InMemorySpanExporter, SimpleSpanProcessor } = load('@opentelemetry/sdk-trace-node') as Sdk;
    exporter = new InMemorySpanExporter();
    const { tracePlants } = (await import(pathToFileURL(join(examples, 'opentelemetry.ts')).href)) as {
      tracePlants: (spanProcessors: object[]) => void;
    };
    tracePlants([new SimpleSpanProcessor(exporter)]);
  }
  exporter.reset();
  return exporter;
}

const users = ['ada', 'bob', 'eve'];
/** Returns the context of a user's client span. */
const clientOf = (user: string): SpanContext => {
  const digit = users.indexOf(user) + 1;
  return { traceId: `${digit}`.repeat(32), spanId: `${digit}`.repeat(16) };
};

async function create(url: string, user: string): Promise<number> {
  const { traceId, spanId } = clientOf(user);
  const traceparent = `00-${traceId}-${spanId}-01`;
  const headers = { authorization: `Bearer ${user}`, 'content-type': 'application/json', traceparent };
  const response = await fetch(`${url}/plants`, { method: 'POST', headers, body: '{"id":1,"name":"Fern"}' });
  await response.text();
  return response.status;
}

const idsOf = ({ traceId, spanId }: SpanContext): SpanContext => ({ traceId, spanId });

describe('examples/frameworks/opentelemetry.ts', () => {
  it('makes each request span a child of the client span, and links each commit to the requests that share it', async (t) => {
    if (!arePackagesInstalled(t)) return;
    const tracing = await startTracing();
    const activeByUser = new Map<string, string | undefined>();
    const authenticate: Authenticate = (token) => {
      activeByUser.set(token, activeSpanId());
      return authenticateByName(token);
    };
    const { url, store, storage, release } = await startHeldService(t, { authenticate });
    const activeInStorage: (string | undefined)[] = [];
    const commit = storage.commit.bind(storage);
    storage.commit = (writes) => {
      activeInStorage.push(activeSpanId());
      return commit(writes);
    };
    const statuses: Promise<number>[] = [];
    for (const user of users) {
      statuses.push(create(url, user));
      await eventuallyEqual(() => store.pendingWrites, statuses.length);
    }
    release();
    assert.deepEqual(await Promise.all(statuses), [200, 200, 200]);
    await eventuallyEqual(() => tracing.getFinishedSpans().length, 5);

    const spans = tracing.getFinishedSpans();
    const requests = users.map((user) => {
      const isOfUser = (span: Span): boolean => span.parentSpanContext?.spanId === clientOf(user).spanId;
      return spans.find(isOfUser) ?? assert.fail(user);
    });
    assert.equal(requests[0]?.name, 'POST /plants');
    const contexts = requests.map((span) => idsOf(span.spanContext()));
    const expected = users.map((user) => ({ traceId: clientOf(user).traceId, spanId: activeByUser.get(user) }));
    assert.deepEqual(contexts, expected);
    const [first, ...others] = contexts;
    const commits = spans.filter(({ name }) => name === 'commit');
    assert.deepEqual(
      commits.map((span) => [span.spanContext().spanId, span.parentSpanContext]),
      activeInStorage.map((id) => [id, undefined]),
    );
    assert.deepEqual(
      commits.map(({ links }) => links.map(({ context }) => idsOf(context))),
      [[first], others],
    );
    assert.deepEqual(requests[0].attributes, {
      'http.request.method': 'POST',
      'http.route': '/plants',
      'http.response.status_code': 200,
    });
  });

  it('marks a failed commit and its request as errors', async (t) => {
    if (!arePackagesInstalled(t)) return;
    const tracing = await startTracing();
    const storage = new MemoryStorage();
    storage.commit = () => Promise.reject(new Error('The disk failed'));
    const { url } = await startService(t, { storage });
    assert.equal(await create(url, 'ada'), 503);
    await eventuallyEqual(() => tracing.getFinishedSpans().length, 2);
    for (const { name, status, events } of tracing.getFinishedSpans()) {
      assert.deepEqual([status.code, events[0]?.attributes['exception.type']], [2, 'storage_unavailable'], name);
    }
  });
});
