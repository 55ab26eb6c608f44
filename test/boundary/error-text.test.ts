import assert from 'node:assert/strict';
import { it } from 'node:test';
import { runInNewContext } from 'node:vm';
import { errorText } from '../../src/boundary/error-text.ts';

it('errorText contains the stacks and codes of an error and its causes, but no other properties', () => {
  const codes = { code: 'ERR_SQLITE_ERROR', errcode: 1299 };
  const cause = Object.assign(new Error('row'), codes, { detail: 'Failing row contains (secret)' });
  const text = errorText(new Error('outer', { cause }));
  assert.match(text, /^Error: outer\n +at .*\nCaused by Error: row \(code ERR_SQLITE_ERROR, errcode 1299\)\n +at /s);
  assert.doesNotMatch(text, /secret/);
});

it('errorText shows the errors in an AggregateError without a message', () => {
  const errors = [new Error('no IPv6'), new Error('no IPv4')];
  assert.match(errorText(new AggregateError(errors)), /^AggregateError\n.*by Error: no IPv6\n.*by Error: no IPv4\n/s);
});

it('errorText puts the codes after the heading of an error without a message', () => {
  const refused = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' });
  assert.match(errorText(refused), /^AggregateError \(code ECONNREFUSED\)\n +at /);
  refused.stack = 'AggregateError';
  assert.equal(errorText(refused), 'AggregateError (code ECONNREFUSED)');
});

it('errorText describes an Error from another VM context, a DOMException, and a value that is not an Error', () => {
  assert.match(errorText(runInNewContext(`new Error('down')`)), /^Error: down\n/);
  assert.match(errorText(new DOMException('late', 'TimeoutError')), /^TimeoutError: late/);
  assert.deepEqual(['down', 7, undefined, null].map(errorText), ['down', '7', 'undefined', 'null']);
  assert.equal(errorText({ token: 'secret' }), 'an object that is not an Error');
});

it('errorText never throws', () => {
  const throwing = (): never => {
    throw new Error('no');
  };
  const unusual = [
    Object.assign(() => undefined, { toString: throwing }),
    new Proxy(new Error('c'), { get: throwing, getPrototypeOf: throwing }),
  ];
  assert.equal(errorText(Object.assign(new Error('a'), { stack: 7 })), 'Error: a');
  for (const error of unusual) assert.match(errorText(error), /an error that cannot be shown$/);
});

it('errorText returns a finite text for an error that is its own cause', () => {
  const error = new Error('again');
  error.cause = error;
  assert.equal(errorText(error).split('Caused by').length, 6);
});
