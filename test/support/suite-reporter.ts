import type { TestEvent } from 'node:test/reporters';
import type { SuiteResult } from './suite-results.ts';

/** Separates the results from other output. */
export const resultMark = '\u001e';

/**
 * A reporter of node:test that writes one line of JSON for each test. The JUnit reports of Node.js 22 omit the suites.
 */
export default async function* reportResults(
  events: AsyncIterable<TestEvent>,
): AsyncGenerator<string, void, undefined> {
  const names: string[] = [];
  for await (const { type, data } of events) {
    if (type === 'test:start') names[data.nesting] = data.name;
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const { name, nesting, skip, todo } = data;
    const error = type === 'test:fail' ? data.details.error : undefined;
    const cause = error?.cause ?? error;
    const failure = cause instanceof Error ? cause.message : error && String(cause);
    const reason = skip ?? todo;
    const skipped = reason === undefined ? undefined : String(reason);
    const result: SuiteResult = { suite: names.slice(0, nesting).join('.'), test: name, failure, skipped };
    yield data.details.type === 'suite' ? `${failure ?? ''}\n` : `${resultMark}${JSON.stringify(result)}\n`;
  }
}
