import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { UsageError } from '../../../src/tools/cli/command.ts';
import { parsePostgresParameters } from '../../../src/tools/cli/postgres-parameters.ts';
import type { PostgresParameters } from '../../../src/tools/cli/postgres-parameters.ts';

const url = 'postgres://ada@localhost/plants';
const parse = (query: string): PostgresParameters => parsePostgresParameters(url + query, '--storage');
const defaults: PostgresParameters = {
  connectionString: url,
  max: 10,
  schema: undefined,
  table: 'plants',
  queryTimeoutMs: undefined,
  enableChannelBinding: false,
};

describe('parsePostgresParameters', () => {
  const ofPg = [
    'user=ada&password=sesame&host=localhost&port=5432&ssl=0&sslmode=disable&sslcert=a.pem&sslkey=b.pem',
    'sslrootcert=c.pem&sslnegotiation=postgres&uselibpqcompat=true&application_name=all',
    'fallback_application_name=none&options=-c+work_mem%3D1MB&statement_timeout=1000&lock_timeout=2000',
    'idle_in_transaction_session_timeout=4000&query_timeout=3000',
  ].join('&');
  const right: [query: string, parsed: Partial<PostgresParameters>][] = [
    [`?${ofPg}`, { connectionString: `${url}?${ofPg}`, queryTimeoutMs: 3000 }],
    ['', {}],
    ['?max=2#sesame', { max: 2 }],
    [
      '?max=2&schema=my%20garden&ssl=0&table=the+plants',
      { connectionString: `${url}?ssl=0`, max: 2, schema: 'my garden', table: 'the plants' },
    ],
    ['?channel_binding=disable', {}],
    ['?channel_binding=prefer', { enableChannelBinding: true }],
    ...['verify-full', 'verify-ca', 'require'].map((mode): [string, Partial<PostgresParameters>] => [
      `?sslmode=${mode}&channel_binding=require`,
      { connectionString: `${url}?sslmode=${mode}`, enableChannelBinding: true },
    ]),
  ];
  for (const [query, parsed] of right) {
    it(`extracts Plant Store's parameters from ${query}, and passes only the other parameters to pg`, () => {
      assert.deepEqual(parse(query), { ...defaults, ...parsed });
    });
  }

  const unverified = ['', '&sslmode=disable', '&sslmode=no-verify', '&sslmode=require&uselibpqcompat=true'];
  const wrong: [query: string, message: RegExp][] = [
    ['max=many', /^max in --storage must be 1 to 9999\.$/],
    ['max=0', /^max in --storage must be 1 to 9999\.$/],
    ['max=', /^max in --storage must be 1 to 9999\.$/],
    ['max=5&max=6', /^max must not be given twice in --storage\.$/],
    [
      'max=5&pool=5',
      /^--storage has the parameter 'pool' that is not one of max, schema, table, channel_binding, user, /,
    ],
    ['connect_timeout=5', /the parameter 'connect_timeout' that is not one of/],
    ['port=0', /^port in --storage must be 1 to 65535\.$/],
    ['port=65536', /^port in --storage must be 1 to 65535\.$/],
    ['statement_timeout=10s', /^statement_timeout in --storage must be 0 to 2147483647\.$/],
    ['query_timeout=0', /^query_timeout in --storage must be 1 to 2147483647\.$/],
    ['ssl=false', /^ssl in --storage must be one of true, 1, 0, no-verify\.$/],
    ['sslmode=verify_full', /^sslmode in --storage must be one of disable, .*, verify-full, no-verify\.$/],
    ['channel_binding=on', /^channel_binding in --storage must be one of disable, prefer, require\.$/],
    ...unverified.map((mode): [string, RegExp] => [
      `channel_binding=require${mode}`,
      /^channel_binding=require in --storage needs sslmode=verify-full\.$/,
    ]),
    ['schema=', /^schema in --storage must be a name of 1 to 63 bytes\.$/],
    [`table=${'x'.repeat(64)}`, /^table in --storage must be a name of 1 to 63 bytes\.$/],
    // The '?' is part of a password.
    ['sesame@localhost/plants', /^--storage has a parameter that is not one of/],
    ['x&sesame=@localhost/plants', /^--storage has a parameter that is not one of/],
  ];
  for (const [query, message] of wrong) {
    it(`rejects ${query} with one sentence that does not contain a password`, () => {
      assert.throws(
        () => parse(`?${query}`),
        (error) => {
          assert.ok(error instanceof UsageError);
          assert.match(error.message, message);
          return !error.message.includes('sesame');
        },
      );
    });
  }
});
