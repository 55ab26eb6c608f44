import { rule } from './finding.ts';
import { expectation } from './expectation.ts';
import type { Operation } from './expectation.ts';
import { judgeAnswer } from './judge-answer.ts';
import type { Known } from './judge-answer.ts';
import type { Ledger } from './ledger.ts';
import type { Played } from './play.ts';
import type { ReadAnswer } from './read-answers.ts';
import type { Request } from './read-requests.ts';

/** What the requests on a connection may have done. */
export function operationsOf({ stream }: Played): Operation[] {
  return stream.requests.map(expectation).flatMap(({ operation }) => operation ?? []);
}

/** Holds the answers on one connection against its requests, and enters the writes into the ledger. */
export function judgeConnection(played: Played, ledger: Ledger, known: (user: string) => Known): void {
  const { stream, received, wasReset } = played;
  const expectations = stream.requests.map(expectation);
  const leaveOpen = (from: number): void => {
    for (const { operation } of expectations.slice(from)) {
      if (operation?.kind === 'create' || operation?.kind === 'delete') ledger.leaveOpen(operation);
    }
  };
  let answered = 0;
  for (const [n, request] of stream.requests.entries()) {
    const answer = received.answers[n];
    if (answer === undefined) break;
    const expected = expectations[n];
    if (expected === undefined) break;
    if (isCutOff(answer, n, played)) {
      leaveOpen(n);
      return;
    }
    judgeAnswer(request, expected, answer, { ledger, known });
    answered = n + 1;
    if (answer.isLast) {
      rule(
        received.answers.length === answered && received.rest === '',
        () => 'something comes behind the last answer of a connection',
      );
      return;
    }
    rule(
      !request.isLast,
      () => `the connection goes on behind ${request.method} ${request.target}, which asked for its end`,
    );
  }
  leaveOpen(answered);
  judgeRest(played, answered);
  const request = stream.requests[answered];
  rule(
    request === undefined || wasReset || mayLackAnswer(request, played),
    () => `no answer to ${request?.method ?? ''} ${request?.target ?? ''}`,
  );
}

/** Holds what came behind the answers to whole requests against what was sent behind them. */
function judgeRest(played: Played, answered: number): void {
  const { stream, received, isAwaited, isHalfClosed, wasReset } = played;
  const behind = received.answers.slice(answered);
  rule(behind.length <= 1, () => `${received.answers.length} answers to ${stream.requests.length} requests`);
  rule(received.rest === '' || mayBeHalf(played, answered), () => `half an answer: ${JSON.stringify(received.rest)}`);
  const [answer] = behind;
  if (answer === undefined) {
    rule(stream.rest !== 'broken' || !isAwaited || wasReset || isHalfClosed, () => 'no answer to what is no request');
    return;
  }
  rule(stream.rest !== 'nothing', () => 'an answer to nothing');
  const isBodiless =
    stream.isRestHead && answer.body === '' && answer.isLast && [400, 408, 431].includes(answer.status);
  if (!isBodiless) judgeRefusal(answer);
}

/** Whether the answer to the n-th request may end in the middle. */
function mayBeHalf(played: Played, n: number): boolean {
  const { stream, isCut, wasReset } = played;
  return isCut || wasReset || stream.requests[n]?.bodyState === 'broken';
}

/** Whether an answer that lasts to the end of the connection, as HTTP/1.0 has it, may lack its end. */
function isCutOff({ status, fields }: ReadAnswer, n: number, played: Played): boolean {
  const hasLength = fields.some(({ name }) => name === 'content-length' || name === 'transfer-encoding');
  return status === 200 && !hasLength && mayBeHalf(played, n);
}

function mayLackAnswer(request: Request, { isAwaited, isHalfClosed }: Played): boolean {
  // node:http closes the connection of an HTTP/2 client at once.
  if (request.bodyState === 'incomplete' || request.method === 'PRI') return true;
  // It closes that of a client that sends no more, too, where it can make no request of the rest.
  const { errors, operation } = expectation(request);
  const mayBeNone = operation === undefined || errors.includes(40009) || errors.includes(43100);
  return !isAwaited && (!isHalfClosed || mayBeNone);
}

function judgeRefusal(answer: ReadAnswer): void {
  judgeAnswer(undefined, { errors: [40009, 40800, 43100] }, answer, undefined);
  rule(answer.isLast, () => 'the connection goes on behind what is no request');
}
