import { appendFileSync, statSync, truncateSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import type { OwnedPlant, Write } from '../../../src/core/storage-adapter.ts';
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

/** Omits deletes from the file. */
class ForgetsDeletes extends LogStorage {
  protected override encode(batch: readonly Write[]): string {
    return super.encode(batch.filter(({ kind }) => kind === 'create'));
  }
}

/** Leaves half a line in the file after a failed append, so the next line is appended to it. */
class RejectsTornLog extends LogStorage {
  protected override undo(): void {
    // Does nothing.
  }
}

/** Also skips lines that are not JSON when it opens the file. It therefore loses an acknowledged batch. */
class TornLog extends RejectsTornLog {
  protected override decode(line: string): Write[] {
    try {
      return super.decode(line);
    } catch {
      return [];
    }
  }
}

/** Removes an incomplete line only before its own next append. Other processes append to the incomplete line. */
class RepairsOnlyItsOwnLog extends TornLog {
  #end: number | undefined;

  protected override append(batch: readonly Write[]): void {
    if (this.#end !== undefined) truncateSync(this.place.path, this.#end);
    this.#end = statSync(this.place.path).size;
    super.append(batch);
    this.#end = undefined;
  }

  protected override repair(): void {
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
const random = 'random commits';
const recurs = 'A version must never recur.';
const again = 'It must be possible to open a location again';

/** Adapters with a fault that share their plants, like `brokenLists`. */
export const brokenLogs: Readonly<Record<string, [Adapter: AdapterClass, test: string, message: string]>> = {
  NeverWrites: [NeverWrites, random, 'The shortest history that fails:'],
  ForgetsDeletes: [ForgetsDeletes, random, 'reopen'],
  RejectsTornLog: [RejectsTornLog, random, again],
  TornLog: [TornLog, random, 'When a commit has resolved'],
  RepairsOnlyItsOwnLog: [RepairsOnlyItsOwnLog, random, 'When a commit has resolved'],
  UndoesInFile: [UndoesInFile, 'a crash during a commit', 'must be all or nothing after a crash'],
  DropsCommitOnClose: [DropsCommitOnClose, 'close may be called', 'A commit that succeeds must be durable'],
  KeepsVersion: [hasVersion(() => 0), versions, recurs],
  CountsPlants: [hasVersion((plants) => plants.length), versions, recurs],
  ReturnsMaximumId: [
    hasVersion((plants) => Math.max(0, ...plants.map(({ plant }) => Number(plant.id)))),
    versions,
    recurs,
  ],
  CountsTo8: [hasVersion((_, commits) => commits % 8), versions, recurs],
  CountsTo64: [hasVersion((_, commits) => commits % 64), versions, 'After 6'],
  RepeatsVersion: [RepeatsVersion, versions, recurs],
  ReturnsNaN: [hasVersion(() => NaN), versions, 'must return a finite number. It returned NaN.'],
  ReturnsPromise: [hasVersion(async (plants) => plants.length), versions, 'It returned Promise'],
};
