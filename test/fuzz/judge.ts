import { expectedDeviations, rule } from './deviations.ts';
import { expectation } from './expectation.ts';
import type { Expectation, Operation } from './expectation.ts';
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
    if (isEarlyRefusal(answer, expected, n, played)) {
      leaveOpen(n);
      return;
    }
    if (isCutOff(answer, n, played)) {
      leaveOpen(n);
      return;
    }
    judgeAnswer(request, expected, answer, { ledger, known });
    const isRefused = answer.status >= 400 && answer.status !== 404 && request.hasBody;
    if (isRefused && expected.operation?.kind === 'delete' && expectedDeviations.has('delete-before-its-body')) ledger.leaveOpen(expected.operation);
    answered = n + 1;
    if (answer.isLast) {
      rule(received.answers.length === answered && received.rest === '', () => 'something comes behind the last answer of a connection');
      if (expectedDeviations.has('pipelined-at-once')) leaveOpen(answered);
      return;
    }
    rule(!request.isLast, () => `the connection goes on behind ${request.method} ${request.target}, which asked for its end`);
  }
  leaveOpen(answered);
  judgeRest(played, answered);
  const mayLack = !mustAnswer(played) || wasReset || stream.requests[answered]?.bodyState === 'incomplete' || isDisturbed(played, answered);
  rule(answered === stream.requests.length || mayLack, () => `no answer to ${stream.requests[answered]?.method ?? ''} ${stream.requests[answered]?.target ?? ''}`);
}

/** Holds what came behind the answers to whole requests against what was sent behind them. */
function judgeRest(played: Played, answered: number): void {
  const { stream, received, isAwaited, wasReset } = played;
  const behind = received.answers.slice(answered);
  rule(behind.length <= 1, () => `${received.answers.length} answers to ${stream.requests.length} requests`);
  rule(received.rest === '' || mayBeHalf(played, answered), () => `half an answer: ${JSON.stringify(received.rest)}`);
  const [answer] = behind;
  if (answer === undefined) {
    rule(stream.rest !== 'broken' || !isAwaited || wasReset || isDisturbed(played, answered), () => 'no answer to what is no request');
    return;
  }
  rule(stream.rest !== 'nothing', () => 'an answer to nothing');
  const isBodiless = stream.isRestHead && answer.body === '' && answer.isLast && [400, 408, 431].includes(answer.status);
  if (!isBodiless) judgeRefusal(answer);
}

/** Whether the answer to the n-th request may end in the middle. */
function mayBeHalf(played: Played, n: number): boolean {
  const { stream, isCut, isHalfClosed, wasReset } = played;
  if (isCut || wasReset || stream.requests[n]?.bodyState === 'broken') return true;
  return (isHalfClosed && expectedDeviations.has('cut-off-when-half-closed')) || isDisturbed(played, n);
}

/** Whether an answer that lasts to the end of the connection, as HTTP/1.0 has it, may lack its end. */
function isCutOff({ status, fields }: ReadAnswer, n: number, played: Played): boolean {
  const hasLength = fields.some(({ name }) => name === 'content-length' || name === 'transfer-encoding');
  return status === 200 && !hasLength && mayBeHalf(played, n);
}

/** Whether the client was there to get every answer. */
function mustAnswer({ isAwaited, isHalfClosed }: Played): boolean {
  return isAwaited || (isHalfClosed && !expectedDeviations.has('cut-off-when-half-closed'));
}

/** Whether the server may have given up the connection for what stands in or behind the n-th request. */
function isDisturbed({ stream }: Played, n: number): boolean {
  if (!expectedDeviations.has('refusal-before-earlier-answers')) return false;
  return stream.rest !== 'nothing' || stream.requests.slice(n).some(mayEndConnection);
}

function mayEndConnection(request: Request): boolean {
  const { errors } = expectation(request);
  return request.method === 'CONNECT' || request.bodyState !== 'complete' || errors.includes(40009) || errors.includes(43100);
}

function judgeRefusal(answer: ReadAnswer): void {
  judgeAnswer(undefined, { errors: [40009, 40800, 43100] }, answer, undefined);
  rule(answer.isLast, () => 'the connection goes on behind what is no request');
}

/** Whether an answer is the refusal of something behind the request that it should be for. */
function isEarlyRefusal(answer: ReadAnswer, { errors }: Expectation, n: number, played: Played): boolean {
  const error = Number(/"error":(\d+)/.exec(answer.body)?.[1]);
  return answer.isLast && [40009, 43100, 40401].includes(error) && !errors.includes(error) && isDisturbed(played, n);
}
