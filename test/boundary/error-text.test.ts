import assert from 'node:assert/strict';
import { it } from 'node:test';
import { runInNewContext } from 'node:vm';
import { errorText } from '../../src/boundary/error-text.ts';

it('errorText shows the code and the errors of an AggregateError without a message', () => {
  const refused = Object.assign(new AggregateError([new Error('no IPv6'), 'no IPv4']), { code: 'ECONNREFUSED' });
  assert.match(errorText(refused), /^AggregateError \(code ECONNREFUSED\)\n +at .*by Error: no IPv6\n.*by no IPv4$/s);
  refused.stack = 'AggregateError';
  assert.match(errorText(refused), /^AggregateError \(code ECONNREFUSED\)\nCaused by /);
});

it('errorText describes an Error from another VM context, a DOMException, and a value that is not an Error', () => {
  assert.match(errorText(runInNewContext(`new Error('down')`)), /^Error: down\n/);
  assert.match(errorText(new DOMException('late', 'TimeoutError')), /^TimeoutError: late/);
  assert.deepEqual(['down', 7, undefined, null].map(errorText), ['down', '7', 'undefined', 'null']);
  assert.equal(errorText({ token: 'secret' }), 'an object that is not an Error');
});

it('errorText never throws, and stops after the fifth cause', () => {
  const throwing = (): never => {
    throw new Error('no');
  };
  const unusual = [
    Object.assign(() => undefined, { toString: throwing }),
    new Proxy(new Error('c'), { get: throwing, getPrototypeOf: throwing }),
  ];
  for (const error of unusual) assert.match(errorText(error), /an error that cannot be shown$/);
  const own = Object.assign(new Error('a'), { stack: 7 });
  assert.equal(errorText(own), 'Error: a');
  own.cause = own;
  assert.equal(errorText(own).split('Caused by').length, 6);
});
