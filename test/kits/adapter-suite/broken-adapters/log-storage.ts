import { appendFileSync, closeSync, openSync, readFileSync, statSync, truncateSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import type { Write } from '../../../../src/index.ts';
import { MapStorage } from './map-storage.ts';
import type { Faults } from './map-storage.ts';

/**
 * A short, correct adapter that appends each batch to a file, as one line. The adapters that are open at one location
 * share a Map with the plants in the file.
 */
export class LogStorage extends MapStorage {
  constructor(faults: Faults) {
    super(faults);
    this.plants = faults.shared;
    if (this.plants.size === 0) this.load();
  }

  override async commit(writes: readonly Write[]): Promise<boolean[]> {
    this.refuseIfClosed();
    const batch = structuredClone(writes);
    if (batch.some((write) => this.faults.isFor(write, this.faults.unstorable))) throw this.unstorableError();
    const end = statSync(this.faults.path).size;
    try {
      this.append(batch);
    } catch (error) {
      this.undo(end);
      throw error;
    }
    return batch.map((write) => this.apply(this.plants, write));
  }

  protected encode(batch: readonly Write[]): string {
    return `${JSON.stringify(batch, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))}\n`;
  }

  protected decode(line: string): Write[] {
    return JSON.parse(line, (key, value: unknown) => (key === 'id' ? BigInt(value as string) : value)) as Write[];
  }

  /** Appends a batch to the file. A faulty write makes the disk fail after half of the text. */
  protected append(batch: readonly Write[]): void {
    const text = this.encode(batch);
    const isFaulty = batch.some((write) => this.faults.isFor(write, this.faults.failing));
    appendFileSync(this.faults.path, isFaulty ? text.slice(0, text.length / 2) : text);
    if (isFaulty) throw new Error('The disk failed.');
  }

  /** Removes what a failed append has left in the file. */
  protected undo(end: number): void {
    truncateSync(this.faults.path, end);
  }

  /** Removes a half-written line from the end of a file that is opened. */
  protected repair(end: number): void {
    truncateSync(this.faults.path, end);
  }

  private load(): void {
    closeSync(openSync(this.faults.path, 'a'));
    const bytes = readFileSync(this.faults.path);
    const end = bytes.lastIndexOf('\n') + 1;
    this.repair(end);
    const lines = bytes.toString('utf8', 0, end).split('\n').slice(0, -1);
    for (const write of lines.flatMap((line) => this.decode(line))) this.apply(this.plants, write);
  }
}

/** Stores plants only in the Map that the open adapters share. */
export class NeverWrites extends LogStorage {
  protected override append(): void {
    // Does nothing.
  }
}

/** Does not write deletes to the file. */
export class ForgetsDeletes extends LogStorage {
  protected override encode(batch: readonly Write[]): string {
    return super.encode(batch.filter(({ kind }) => kind === 'create'));
  }
}

/** Leaves half a line in the file after a failed append, so the next line is appended to it. */
export class RejectsTornLog extends LogStorage {
  protected override undo(): void {
    // Does nothing.
  }
}

/** Also skips the lines that are not JSON when it opens the file, and so loses an acknowledged batch. */
export class TornLog extends RejectsTornLog {
  protected override decode(line: string): Write[] {
    try {
      return super.decode(line);
    } catch {
      return [];
    }
  }
}

/** Removes half a line only before its own next append. Another process that opens the file appends to the half line. */
export class RepairsOnlyItsOwnLog extends TornLog {
  #end: number | undefined;

  protected override append(batch: readonly Write[]): void {
    if (this.#end !== undefined) truncateSync(this.faults.path, this.#end);
    this.#end = statSync(this.faults.path).size;
    super.append(batch);
    this.#end = undefined;
  }

  protected override repair(): void {
    // Does nothing.
  }
}

/** Appends a line for each write, so that half of a failed batch is found when the file is opened. */
export class LogsEachWrite extends RepairsOnlyItsOwnLog {
  protected override encode(batch: readonly Write[]): string {
    return batch.map((write) => super.encode([write])).join('');
  }
}

/** Acknowledges a commit that was in flight when the adapter was closed, but does not write it. */
export class DropsCommitOnClose extends LogStorage {
  override async commit(writes: readonly Write[]): Promise<boolean[]> {
    this.refuseIfClosed();
    const batch = structuredClone(writes);
    await setImmediate();
    return this.isClosed ? batch.map(() => true) : super.commit(batch);
  }
}
