import assert from 'node:assert/strict';
import { it } from 'node:test';
import { errorTable, isPlantStoreError, PlantStoreError } from '../../../src/index.ts';
import { asStorageError } from '../../../src/core/model/errors.ts';
import { readDocument } from '../../support/documents.ts';
import type { ErrorCode, ErrorRow } from '../../../src/index.ts';

const rows = Object.entries(errorTable) as [ErrorCode, ErrorRow][];

it('errorTable has a unique integer for each code, which docs/http-api.md describes', async () => {
  assert.equal(new Set(rows.map(([, { integer }]) => integer)).size, rows.length);
  const page = await readDocument('docs/http-api.md');
  const described = [...page.matchAll(/^### `(\w+)`\n\nInteger (\d+)\. ./gm)].map(([, ...row]) => row.join(' '));
  assert.deepEqual(described.sort(), rows.map(([code, { integer }]) => `${code} ${integer}`).sort());
});

it('errorTable and its rows are frozen', () => {
  for (const object of [errorTable, ...Object.values(errorTable)]) assert.ok(Object.isFrozen(object));
});

it('PlantStoreError has the status of its code and, by default, the message of errorTable', () => {
  for (const [code, { status, message }] of rows) {
    const error = new PlantStoreError(code);
    assert.ok(error instanceof Error);
    assert.deepEqual([error.code, error.status, 'cause' in error], [code, status, false]);
    assert.equal(String(error), `PlantStoreError: ${message}`);
  }
  const { message, cause } = new PlantStoreError('invalid_plant', 'name is required.', { cause: 'the input' });
  assert.deepEqual([message, cause], ['name is required.', 'the input']);
});

it('isPlantStoreError recognizes an error that another copy of the package created', () => {
  const foreign = Object.assign(new Error('The store is closed.'), { name: 'PlantStoreError', code: 'closed' });
  assert.equal(asStorageError(foreign), foreign);
  const wrong = [
    { name: 'PlantStoreError', code: 'toString' },
    { name: 'HttpError', code: 'closed' },
  ];
  for (const other of [undefined, null, 'closed', ...wrong]) assert.equal(isPlantStoreError(other), false);
});
