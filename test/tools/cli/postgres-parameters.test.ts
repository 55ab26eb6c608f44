import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { UsageError } from '../../../src/tools/cli/command.ts';
import { parsePostgresParameters } from '../../../src/tools/cli/postgres-parameters.ts';

const parse = (text: string): ReturnType<typeof parsePostgresParameters> => parsePostgresParameters(text, '--storage');

describe('parsePostgresParameters', () => {
  it('returns max, schema and table, and removes them from the connection string', () => {
    assert.deepEqual(parse('postgres://ada@localhost/plants?max=2&schema=my%20garden&ssl=0&table=the+plants'), {
      connectionString: 'postgres://ada@localhost/plants?ssl=0',
      max: 2,
      schema: 'my garden',
      table: 'the plants',
      queryTimeoutMs: undefined,
      enableChannelBinding: false,
    });
  });

  it('uses a pool of 10 connections by default', () => {
    const connectionString = 'postgres://ada@localhost/plants';
    assert.equal(parse(connectionString).max, 10);
    assert.equal(parse(connectionString).connectionString, connectionString);
  });

  it('removes the fragment', () => {
    assert.equal(parse('postgres://localhost/plants?max=2#sesame').connectionString, 'postgres://localhost/plants');
  });

  it('uses channel binding if channel_binding allows it, and does not pass the parameter to pg', () => {
    const url = 'postgres://localhost/plants';
    assert.equal(parse(url).enableChannelBinding, false);
    assert.equal(parse(`${url}?channel_binding=disable`).enableChannelBinding, false);
    assert.equal(parse(`${url}?channel_binding=prefer`).enableChannelBinding, true);
    for (const mode of ['verify-full', 'require']) {
      const { connectionString, enableChannelBinding } = parse(`${url}?sslmode=${mode}&channel_binding=require`);
      assert.deepEqual([connectionString, enableChannelBinding], [`${url}?sslmode=${mode}`, true]);
    }
  });

  const wrong: [string, RegExp][] = [
    ['postgres://ada:sesame@localhost/plants?max=many', /^max in --storage must be 1 to 9999\.$/],
    ['postgres://ada:sesame@localhost/plants?max=0', /^max in --storage must be 1 to 9999\.$/],
    ['postgres://ada:sesame@localhost/plants?max=', /^max in --storage must be 1 to 9999\.$/],
    ['postgres://ada:sesame@localhost/plants?max=5&max=6', /^max must not be given twice in --storage\.$/],
    [
      'postgres://ada:sesame@localhost/plants?max=5&pool=5',
      /^--storage has the parameter 'pool' that is not one of max, schema, table, channel_binding, user, /,
    ],
    ['postgres://ada:sesame@localhost/plants?port=0', /^port in --storage must be 1 to 65535\.$/],
    [
      'postgres://ada:sesame@localhost/plants?statement_timeout=10s',
      /^statement_timeout in --storage must be 0 to 2147483647\.$/,
    ],
    ['postgres://ada:sesame@localhost/plants?port=65536', /^port in --storage must be 1 to 65535\.$/],
    [
      'postgres://ada:sesame@localhost/plants?query_timeout=0',
      /^query_timeout in --storage must be 1 to 2147483647\.$/,
    ],
    ['postgres://ada:sesame@localhost/plants?ssl=false', /^ssl in --storage must be one of true, 1, 0, no-verify\.$/],
    [
      'postgres://ada:sesame@localhost/plants?sslmode=verify_full',
      /^sslmode in --storage must be one of disable, .*, verify-full, no-verify\.$/,
    ],
    [
      'postgres://ada:sesame@localhost/plants?channel_binding=on',
      /^channel_binding in --storage must be one of disable, prefer, require\.$/,
    ],
    ...['', '&sslmode=disable', '&sslmode=no-verify', '&sslmode=require&uselibpqcompat=true'].map(
      (mode): [string, RegExp] => [
        `postgres://ada:sesame@localhost/plants?channel_binding=require${mode}`,
        /^channel_binding=require in --storage needs sslmode=verify-full\.$/,
      ],
    ),
    ['postgres://ada:sesame@localhost/plants?connect_timeout=5', /the parameter 'connect_timeout' that is not one of/],
    ['postgres://ada:sesame@localhost/plants?schema=', /^schema in --storage must be a name of 1 to 63 bytes\.$/],
    [
      `postgres://ada:sesame@localhost/plants?table=${'x'.repeat(64)}`,
      /^table in --storage must be a name of 1 to 63 bytes\.$/,
    ],
    ['postgres://ada:1?sesame@localhost/plants', /^--storage has a parameter that is not one of/],
    ['postgres://ada:1?x&sesame=@localhost/plants', /^--storage has a parameter that is not one of/],
  ];
  for (const [text, message] of wrong) {
    it(`rejects ${text} in one sentence without the password`, () => {
      assert.throws(
        () => parse(text),
        (error) => {
          assert.ok(error instanceof UsageError);
          assert.match(error.message, message);
          return !error.message.includes('sesame');
        },
      );
    });
  }
});
