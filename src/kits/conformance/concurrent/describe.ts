import type { Contradiction } from './contradiction.ts';
import type { Operation } from './history.ts';

/**
 * Returns lines of text that describe a contradiction: the operations with their times, and the response that cannot be
 * explained.
 */
export function describeContradiction(contradiction: Contradiction, ids: readonly bigint[]): string[] {
  const { operations, culprit, possible } = contradiction;
  const startMs = Math.min(...operations.map(({ invokedMs }) => invokedMs));
  const lines = operations.map((operation) => {
    const { client, invokedMs, respondedMs } = operation;
    const until = respondedMs === Infinity ? 'no response' : time(respondedMs - startMs);
    const mark = operation === culprit ? '→' : ' ';
    return `${mark} ${time(invokedMs - startMs)} to ${until}  client ${client}  ${describe(operation, ids)}`;
  });
  const alternatives = possible.length === 0 ? '' : ` Possible would be: ${possible.join(', ')}.`;
  return [...lines, `No order of these requests explains the response marked with an arrow.${alternatives}`];
}

function time(ms: number): string {
  return `${ms.toFixed(2).padStart(8)} ms`;
}

function describe(operation: Operation, ids: readonly bigint[]): string {
  switch (operation.kind) {
    case 'create':
      return `POST id ${ids[operation.key] ?? ''} name ${operation.name}: ${operation.outcome ?? 'unknown'}`;
    case 'delete':
      return `DELETE id ${ids[operation.key] ?? ''}: ${operation.outcome ?? 'unknown'}`;
    case 'list': {
      const contents = [...(operation.outcome ?? [])];
      return `GET: ${contents.map(([key, content]) => `id ${ids[key] ?? ''} ${content ?? 'no plant'}`).join(', ')}`;
    }
  }
}
