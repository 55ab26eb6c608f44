import { appendFileSync, statSync, truncateSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import type { OwnedPlant, Write } from '../../../src/core/storage-adapter.ts';
import { cases } from './broken-lists.ts';
import type { BrokenAdapters } from './broken-lists.ts';
import { LogStorage } from './map-storage.ts';
import type { AdapterClass } from './map-storage.ts';

/** Returns an adapter with this `dataVersion`. */
const hasVersion = (versionOf: (plants: readonly OwnedPlant[], commits: number) => unknown): AdapterClass =>
  class extends LogStorage {
    dataVersion(): number {
      return versionOf(this.copies(), this.place.commits) as number;
    }
  };

/** Decrements the version after a failure, so that the next commit has the same version again. */
class RepeatsVersion extends LogStorage {
  override async commit(writes: readonly Write[]): Promise<boolean[]> {
    return super.commit(writes).catch((error: unknown) => {
      this.place.commits--;
      throw error;
    });
  }

  dataVersion(): number {
    return this.place.commits;
  }
}

/** Stores plants only in the shared Map, not in the file. */
class NeverWrites extends LogStorage {
  protected override append(): void {
    // Does nothing.
  }
}

/** Leaves half a line in the file after a failed append, so the next line is appended to it. */
class RejectsTornLog extends LogStorage {
  protected override undo(): void {
    // Does nothing.
  }
}

/** Appends a line for each write in turn, and removes all of them if one fails. A crash leaves a part of the batch. */
class UndoesInFile extends LogStorage {
  override async commit(writes: readonly Write[]): Promise<boolean[]> {
    this.refuseIfClosed();
    const end = statSync(this.place.path).size;
    const batch = structuredClone(writes);
    try {
      for (const write of batch) {
        if (this.place.isFaulty(write)) throw new Error('The disk failed.');
        appendFileSync(this.place.path, this.encode([write]));
        if (batch.length > 100) await setImmediate();
      }
    } catch (error) {
      truncateSync(this.place.path, end);
      throw error;
    }
    return batch.map((write) => this.apply(this.plants, write));
  }
}

/** Acknowledges a commit that is in progress when the adapter is closed, but does not write it to the file. */
class DropsCommitOnClose extends LogStorage {
  override async commit(writes: readonly Write[]): Promise<boolean[]> {
    this.refuseIfClosed();
    const batch = structuredClone(writes);
    await setImmediate();
    return this.isClosed ? batch.map(() => true) : super.commit(batch);
  }
}

const versions = 'dataVersion changes';

/** Adapters with a fault that share their plants. */
export const brokenLogs: BrokenAdapters = {
  NeverWrites: [NeverWrites, cases.random],
  RejectsTornLog: [RejectsTornLog, cases.random],
  UndoesInFile: [UndoesInFile, 'a crash during a commit'],
  DropsCommitOnClose: [DropsCommitOnClose, 'close may be called'],
  CountsPlants: [hasVersion((plants) => plants.length), versions],
  CountsTo64: [hasVersion((_, commits) => commits % 64), versions],
  RepeatsVersion: [RepeatsVersion, versions],
  ReturnsNaN: [hasVersion(() => NaN), versions],
};
