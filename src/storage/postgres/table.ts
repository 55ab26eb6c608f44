import { performance } from 'node:perf_hooks';
import { PlantStoreError } from '../../core/model/errors.ts';
import { sqlState } from './pool.ts';
import type { PostgresPool } from './pool.ts';
import { definition, readTable } from './read-table.ts';

// PostgreSQL truncates longer identifiers without an error.
const maxIdentifierBytes = 63;

/** Throws a TypeError if a name is invalid. The message names the option. */
export function quotedTable(schema: string | undefined, table: string): string {
  const name = quoted('table', table);
  return schema === undefined ? name : `${quoted('schema', schema)}.${name}`;
}

function quoted(option: string, name: unknown): string {
  const isValid = typeof name === 'string' && name !== '' && !name.includes('\0');
  if (!isValid || Buffer.byteLength(name) > maxIdentifierBytes) {
    throw new TypeError(`${option} must be a string of 1 to ${maxIdentifierBytes} bytes without U+0000`);
  }
  return `"${name.replaceAll('"', '""')}"`;
}

const recheckMs = 1000;

/** The table of plants. It is checked again every second, because it can be changed while a server runs. */
export class PlantTable {
  /** Whether PostgreSQL always plans to use the index, as of the latest check. */
  isLarge = false;
  readonly #pool: PostgresPool;
  readonly #name: string;
  readonly #createTable: boolean;
  /** The latest check; `undefined` if the next operation must check the table. */
  #checked: Promise<void> | undefined;
  #nextCheckAt = Infinity;
  #wasFound = false;

  constructor(pool: PostgresPool, name: string, createTable: boolean) {
    this.#pool = pool;
    this.#name = name;
    this.#createTable = createTable;
  }

  /** Rejects with `storage_unsupported` if the table cannot be used. */
  ready(): Promise<void> {
    if (performance.now() >= this.#nextCheckAt) this.checkAgain();
    this.#checked ??= this.#prepare();
    return this.#checked;
  }

  /** Makes the next operation check the table again. */
  checkAgain(): void {
    this.#checked = undefined;
    this.#nextCheckAt = Infinity;
  }

  async #prepare(): Promise<void> {
    if (!(await this.#check())) await this.#create();
    this.#wasFound = true;
    this.#nextCheckAt = performance.now() + recheckMs;
  }

  async #create(): Promise<void> {
    const name = this.#name;
    // A table that is dropped later is not created again, because a new table would hide the loss of the plants.
    if (!this.#createTable || this.#wasFound) throw unsupported(`There is no table ${name}.`);
    try {
      await this.#pool.query({ text: `CREATE TABLE ${name} (${definition})`, values: [] });
    } catch (error) {
      if (sqlState(error) === '3F000') throw unsupported(`There is no schema for the table ${name}.`);
      // Another server may have created the table at the same time.
      if (!(await this.#check())) throw error;
    }
  }

  /** Returns whether the table exists. Rejects with `storage_unsupported` if it cannot be used. */
  async #check(): Promise<boolean> {
    const name = this.#name;
    const { encoding, synchronousCommit, found, stranger, isLarge } = await readTable(this.#pool, name);
    if (encoding !== 'UTF8') throw unsupported(`The server_encoding is ${encoding}, not UTF8.`);
    if (synchronousCommit === 'off') {
      throw unsupported('synchronous_commit is off, so a crash would lose plants. Set it to on.');
    }
    if (found === null) return false;
    if (found !== definition) {
      const remedy = 'Undo the changes, or choose another name.';
      throw unsupported(`The table ${name} is not as Plant Store creates it (${found}). ${remedy}`);
    }
    if (this.#createTable && stranger !== null) {
      const remedy = 'Change the owner. If you trust that role, you can set createTable to false instead.';
      throw unsupported(`The table ${name} belongs to the role ${stranger}. ${remedy}`);
    }
    this.isLarge = isLarge === 'true';
    return true;
  }
}

/** The default message can be sent to a client. Only the `cause` contains the details. */
function unsupported(detail: string): PlantStoreError {
  return new PlantStoreError('storage_unsupported', undefined, { cause: new Error(detail) });
}
