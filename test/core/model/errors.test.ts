import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { errorTable, PlantStoreError } from '../../../src/index.ts';
import { readDocument } from '../../support/documents.ts';
import type { ErrorCode } from '../../../src/index.ts';

interface Row {
  readonly status: number;
  readonly error: number;
  readonly message: string;
}

const table: Readonly<Record<ErrorCode, Row>> = errorTable;
const rows = Object.entries(table) as [ErrorCode, Row][];

describe('errorTable', () => {
  it('derives each integer from the status: status × 100 + n', () => {
    for (const [code, { status, error }] of rows) assert.equal(Math.floor(error / 100), status, code);
  });

  it('contains HTTP error statuses and int32 integers from 40001 to 50300', () => {
    for (const [code, { status, error }] of rows) {
      assert.ok(Number.isInteger(status) && status >= 400 && status < 600, code);
      assert.equal(error, error | 0, code);
      assert.ok(error >= 40001 && error <= 50300, code);
    }
  });

  it('uses each integer for one code, except 50300, for which a retry can help', () => {
    const codesOf = Map.groupBy(rows, ([, { error }]) => error);
    for (const [error, shared] of codesOf) {
      const isUnique = shared.length === 1;
      assert.ok(isUnique || error === 50300, `${error} is used by ${shared.map(([code]) => code).join(', ')}`);
    }
    assert.ok((codesOf.get(50300)?.length ?? 0) > 1);
  });

  it('has codes in snake_case and messages of one line that end with a full stop', () => {
    for (const [code, { message }] of rows) {
      assert.match(code, /^[a-z]+(?:_[a-z]+)*$/);
      assert.match(message, /^[^\n]+\.$/, code);
    }
  });

  it('never renumbers a code', () => {
    const integers = Object.fromEntries(rows.map(([code, { error }]) => [code, error]));
    const published = {
      invalid_json: 40001,
      invalid_plant: 40002,
      id_taken: 40003,
      invalid_id: 40004,
      invalid_limit: 40005,
      invalid_after: 40006,
      invalid_media_type: 40007,
      body_too_large: 40008,
      malformed_request: 40009,
      missing_credentials: 40101,
      invalid_token: 40102,
      insufficient_scope: 40300,
      route_not_found: 40401,
      plant_not_found: 40402,
      method_not_allowed: 40500,
      request_timeout: 40800,
      header_too_large: 43100,
      internal: 50000,
      saturated: 50300,
      storage_unavailable: 50300,
      storage_unsupported: 50001,
      closed: 50300,
    };
    assert.deepEqual({ ...integers, ...published }, integers);
  });

  it('matches docs/errors.md, which has a heading, the status and the integer of each code', async () => {
    const page = await readDocument('docs/errors.md');
    const pattern = /^### `(\w+)`\n\nStatus (\d+), integer (\d+)\.\n\n\*\*When:\*\* .+?\n\n\*\*What to do:\*\* ./gms;
    const described = [...page.matchAll(pattern)].map(([, code, status, error]) => [
      code,
      Number(status),
      Number(error),
    ]);
    assert.deepEqual(
      described,
      rows.map(([code, { status, error }]) => [code, status, error]),
    );
  });
});

describe('PlantStoreError', () => {
  it('is an Error with a code and the message of the table', () => {
    for (const [code, { message }] of rows) {
      const error = new PlantStoreError(code);
      assert.ok(error instanceof Error);
      assert.equal(error.name, 'PlantStoreError');
      assert.equal(error.code, code);
      assert.equal(error.message, message);
      assert.equal('cause' in error, false);
    }
  });

  it('accepts a more specific message', () => {
    const error = new PlantStoreError('invalid_plant', 'name is required.');
    assert.equal(error.code, 'invalid_plant');
    assert.equal(error.message, 'name is required.');
  });

  it('has the given cause, and the message of the table', () => {
    const cause = new Error('disk full');
    const error = new PlantStoreError('storage_unavailable', undefined, { cause });
    assert.equal(error.cause, cause);
    assert.equal(error.message, errorTable.storage_unavailable.message);
  });

  it('shows its name and the caller in its stack', () => {
    assert.match(new PlantStoreError('closed').stack ?? '', /errors\.test\.ts/);
    assert.equal(String(new PlantStoreError('closed')), 'PlantStoreError: The store is closed.');
  });
});
