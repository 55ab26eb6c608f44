import { isDeepStrictEqual } from 'node:util';
import type { Plant } from '../../src/index.ts';
import { secret, stranger } from './callers.ts';
import { rule } from './finding.ts';
import type { Expectation, Operation } from './expectation.ts';
import { elementsOf, valuesOf } from './fields.ts';
import type { Ledger } from './ledger.ts';
import type { ReadAnswer } from './read-answers.ts';
import type { Request } from './read-requests.ts';

/** How much the order of the requests tells about what is stored for a user. */
export type Known = 'exactly' | 'roughly';

interface Stored {
  readonly ledger: Ledger;
  readonly known: (user: string) => Known;
}

/** Holds one answer against the request it is for; `undefined` stands for bytes that are no request. */
export function judgeAnswer(
  request: Request | undefined,
  expected: Expectation,
  answer: ReadAnswer,
  stored: Stored | undefined,
): void {
  const what = `${request?.method ?? 'no request'} ${request?.target ?? ''} → ${answer.status} ${answer.body.slice(0, 300)}`;
  const text = Buffer.from(answer.body, 'latin1').toString('utf8');
  rule(!text.includes(secret), () => `${what} shows a plant of ${stranger}`);
  rule(answer.status < 500, () => what);
  const isHead = request?.method === 'HEAD';
  judgeInterims(request, answer, what);
  const isBodyUnread = request?.hasBody === true && expected.operation?.kind !== 'create';
  rule(
    !answer.isLast ||
      answer.status >= 400 ||
      request === undefined ||
      request.isLast ||
      isBodyUnread ||
      asksInVain(request, expected) ||
      request.doubts.length > 0,
    () => `${what} ends the connection for nothing`,
  );
  rule(
    answer.status === 204 || valuesOf(answer.fields, 'content-type').join() === 'application/json',
    () => `${what} is not said to be JSON`,
  );
  if (answer.status >= 400) {
    judgeError(
      answer,
      { ...expected, errors: [...expected.errors, ...stateErrors(expected.operation, stored)] },
      isHead,
      what,
    );
    return;
  }
  const { operation } = expected;
  rule(
    operation !== undefined && stored !== undefined,
    () => `${what}, which has to be refused: ${expected.errors.join(', ')}`,
  );
  rule(answer.status === (operation.kind === 'delete' || operation.kind === 'options' ? 204 : 200), () => what);
  judgeSuccess(operation, answer, { text, isHead, stored, what });
  if (operation.kind === 'create' || operation.kind === 'delete') {
    const wasThere = stored.ledger.has(operation.user, operation.kind === 'create' ? operation.plant.id : operation.id);
    const isPossible = stored.known(operation.user) === 'roughly' || wasThere === (operation.kind === 'delete');
    rule(isPossible, () => `${what}, but the plant was ${wasThere ? '' : 'not '}there`);
    stored.ledger.acknowledge(operation);
  }
}

/** The Errors that depend on what is stored. */
function stateErrors(operation: Operation | undefined, stored: Stored | undefined): number[] {
  if (stored === undefined || (operation?.kind !== 'create' && operation?.kind !== 'delete')) return [];
  const isCreate = operation.kind === 'create';
  const wasThere = stored.ledger.has(operation.user, isCreate ? operation.plant.id : operation.id);
  return stored.known(operation.user) === 'roughly' || wasThere === isCreate ? [isCreate ? 40003 : 40402] : [];
}

function judgeError(
  { status, fields, body }: ReadAnswer,
  { errors }: Expectation,
  isHead: boolean,
  what: string,
): void {
  if (status === 401) rule(valuesOf(fields, 'www-authenticate').length === 1, () => `${what} without a challenge`);
  if (status === 405) rule(valuesOf(fields, 'allow').length === 1, () => `${what} without Allow`);
  if (isHead && body === '') {
    rule(
      errors.some((error) => Math.floor(error / 100) === status),
      () => `${what}, not one of ${errors.join(', ')}`,
    );
    return;
  }
  const value = parse(body, what) as { error?: unknown; message?: unknown };
  rule(
    isDeepStrictEqual(Object.keys(value), ['error', 'message']) && typeof value.message === 'string',
    () => `${what} is no Error`,
  );
  rule(Math.floor(Number(value.error) / 100) === status, () => `${what}: the integer is not that of the status`);
  rule(errors.includes(Number(value.error)), () => `${what}, not one of ${errors.join(', ')}`);
}

/** For 100 Continue without a body to be sent, or for another protocol: node:http then closes, or is told to. */
function asksInVain({ fields }: Request, { operation }: Expectation): boolean {
  return (
    (valuesOf(fields, 'expect').length > 0 && operation?.kind !== 'create') || valuesOf(fields, 'upgrade').length > 0
  );
}

function judgeInterims(request: Request | undefined, { interims, status, body }: ReadAnswer, what: string): void {
  if (interims === 0) return;
  const isWanted =
    request !== undefined && !request.isHttp10 && elementsOf(request.fields, 'expect').includes('100-continue');
  rule(interims === 1 && isWanted, () => `${what} behind ${interims} × 100 Continue`);
  const isByHeader = status >= 400 && !/"error":(?:40001|40002|40003|40008|40009|40402)\b/.test(body);
  rule(!isByHeader, () => `${what} behind 100 Continue`);
}

interface Success extends Record<'text' | 'what', string> {
  readonly isHead: boolean;
  readonly stored: Stored;
}

function judgeSuccess(
  operation: Operation,
  { fields, body }: ReadAnswer,
  { text, isHead, stored, what }: Success,
): void {
  if (operation.kind === 'options') {
    rule(valuesOf(fields, 'allow').join() === operation.allow, () => `${what} allows something else`);
    return;
  }
  if (operation.kind === 'list') {
    judgeList(
      operation,
      isHead ? undefined : (parse(text, what) as Plant[]),
      valuesOf(fields, 'link')[0],
      stored,
      what,
    );
  } else if (operation.kind === 'create') {
    const { id, ...plant } = operation.plant;
    rule(isDeepStrictEqual(parse(text, what), plant), () => `${what} for plant ${id} ${JSON.stringify(plant)}`);
  } else if (operation.kind === 'openapi' && !isHead) {
    rule('openapi' in parse(body, what), () => what);
  }
}

function judgeList(
  list: Extract<Operation, { kind: 'list' }>,
  listed: Plant[] | undefined,
  link: string | undefined,
  { ledger, known }: Stored,
  what: string,
): void {
  const { user, limit = Infinity, after, path } = list;
  const isAfter = (id: bigint): boolean => after === undefined || id > after;
  const shown = (plants: readonly (Plant & { id: bigint })[]): Plant[] =>
    plants.map(({ name, tag }) => (tag === undefined ? { name } : { name, tag }));
  if (known(user) === 'roughly') {
    const candidates = new Set(shown(ledger.candidatesOf(user).filter(({ id }) => isAfter(id))).map(textOf));
    rule((listed ?? []).length <= limit, () => `${what} is over its limit`);
    for (const plant of listed ?? []) {
      rule(
        candidates.has(textOf(plant)),
        () => `${what} shows ${JSON.stringify(plant)}, which is not one of ${user}'s`,
      );
    }
    return;
  }
  const all = ledger.plantsOf(user).filter(({ id }) => isAfter(id));
  const page = all.slice(0, limit);
  rule(
    listed === undefined || isDeepStrictEqual(listed, shown(page)),
    () => `${what} instead of ${JSON.stringify(shown(page))}`,
  );
  const last = page.at(-1);
  const next =
    last === undefined || all.length === page.length
      ? undefined
      : `<${path}?limit=${limit}&after=${last.id}>; rel="next"`;
  rule(link === next, () => `${what} with Link ${String(link)} instead of ${String(next)}`);
}

function textOf({ name, tag }: Plant): string {
  return JSON.stringify([name, tag]);
}

function parse(text: string, what: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Said below.
  }
  rule(false, () => `${what} is no JSON`);
  return {};
}
