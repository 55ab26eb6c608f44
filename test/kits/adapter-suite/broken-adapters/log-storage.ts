import { appendFileSync, closeSync, openSync, readFileSync, statSync, truncateSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import type { Write } from '../../../../src/adapter.ts';
import { MapStorage } from './map-storage.ts';
import type { Faults } from './map-storage.ts';

/**
 * A short, correct adapter that appends each batch to a file as one line. All open adapters at the same location share
 * a Map with the plants in the file.
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

  /** Appends a batch to the file. If the batch contains a faulty write, appends only half of the text and throws. */
  protected append(batch: readonly Write[]): void {
    const text = this.encode(batch);
    const isFaulty = batch.some((write) => this.faults.isFor(write, this.faults.failing));
    appendFileSync(this.faults.path, isFaulty ? text.slice(0, text.length / 2) : text);
    if (isFaulty) throw new Error('The disk failed.');
  }

  /** Removes the text that a failed append left in the file. */
  protected undo(end: number): void {
    truncateSync(this.faults.path, end);
  }

  /** Removes an incomplete line from the end of the file when the file is opened. */
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

/** Stores plants only in the shared Map, not in the file. */
export class NeverWrites extends LogStorage {
  protected override append(): void {
    // Does nothing.
  }
}

/** Omits delete writes from the file. */
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

/** Also skips lines that are not JSON when it opens the file. It therefore loses an acknowledged batch. */
export class TornLog extends RejectsTornLog {
  protected override decode(line: string): Write[] {
    try {
      return super.decode(line);
    } catch {
      return [];
    }
  }
}

/** Removes an incomplete line only before its own next append. Other processes append to the incomplete line. */
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

/** Appends a line for each write, so half of a failed batch is loaded when the file is opened again. */
export class LogsEachWrite extends RepairsOnlyItsOwnLog {
  protected override encode(batch: readonly Write[]): string {
    return batch.map((write) => super.encode([write])).join('');
  }
}

/** Acknowledges a commit that is in progress when the adapter is closed, but does not write the commit to the file. */
export class DropsCommitOnClose extends LogStorage {
  override async commit(writes: readonly Write[]): Promise<boolean[]> {
    this.refuseIfClosed();
    const batch = structuredClone(writes);
    await setImmediate();
    return this.isClosed ? batch.map(() => true) : super.commit(batch);
  }
}
