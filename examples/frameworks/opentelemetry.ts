import { context, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { Context, Exception, Span, SpanOptions } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import type { SpanProcessor } from '@opentelemetry/sdk-trace-node';
import { tracingChannel } from 'node:diagnostics_channel';
import type { CommitMessage } from 'plant-store';
import type { RequestMessage } from 'plant-store/http';

/**
 * Creates a span for each request and for each commit. The parent of a request's span is the span of the HTTP
 * instrumentation, if any, or else the client's span. Example: tracePlants([new BatchSpanProcessor(exporter)]).
 */
export function tracePlants(spanProcessors: SpanProcessor[]): void {
  const contextManager = new AsyncLocalStorageContextManager();
  new NodeTracerProvider({ spanProcessors }).register({ contextManager });
  // This property is not public yet: https://github.com/open-telemetry/opentelemetry-js/issues/6088
  const contexts = contextManager['_asyncLocalStorage'];
  const spans = new WeakMap<object, Span>();

  const begin = (message: object, name: string, options: SpanOptions, parent: Context): Context => {
    const span = trace.getTracer('plant-store').startSpan(name, options, parent);
    spans.set(message, span);
    return trace.setSpan(parent, span);
  };

  const requests = tracingChannel<Context, RequestMessage>('plant-store:request');
  requests.start.bindStore(contexts, (message) => {
    const name = `${message.method} ${message.path}`;
    const attributes = { 'http.request.method': message.method, 'http.route': message.path };
    const isInstrumented = trace.getActiveSpan() !== undefined;
    const parent = isInstrumented ? context.active() : propagation.extract(ROOT_CONTEXT, message);
    const kind = isInstrumented ? SpanKind.INTERNAL : SpanKind.SERVER;
    return begin(message, name, { kind, attributes }, parent);
  });

  // Several requests can share a commit. The commit's span has links to the requests' spans instead of a parent.
  const commits = tracingChannel<Context, CommitMessage>('plant-store:commit');
  commits.start.bindStore(contexts, (message) => {
    const callers = message.contexts.map((run) => run(() => trace.getActiveSpan()));
    const links = callers.flatMap((span) => (span === undefined ? [] : { context: span.spanContext() }));
    return begin(message, 'commit', { links }, ROOT_CONTEXT);
  });

  for (const { error, asyncEnd } of [requests, commits]) {
    error.subscribe((message) => {
      const failed = message as { error: Exception };
      spans.get(failed)?.setStatus({ code: SpanStatusCode.ERROR }).recordException(failed.error);
    });
    asyncEnd.subscribe((message) => {
      const { status } = message as Partial<RequestMessage>;
      const span = spans.get(message as object);
      span?.setAttributes({ 'http.response.status_code': status }).end();
    });
  }
}
