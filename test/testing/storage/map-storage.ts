import { appendFileSync, closeSync, openSync, readFileSync, statSync, truncateSync } from 'node:fs';
import { PlantStoreError } from '../../../src/index.ts';
import type { Plant } from '../../../src/index.ts';
import { idOf } from '../../../src/core/storage-adapter.ts';
import type { ListRange, OwnedPlant, PlantPage, StorageAdapter, Write } from '../../../src/core/storage-adapter.ts';
import type { FaultyWrite } from '../../../src/testing.ts';

/** A location. The adapters at this location fail when they apply the write `failing`. */
export class Place {
  failing: FaultyWrite | undefined;
  /** The path of a file in the location's folder. */
  readonly path: string;
  /** The plants of adapters that share their plants. */
  readonly shared = new Map<string, OwnedPlant>();
  commits = 0;

  constructor(path: string) {
    this.path = path;
  }

  isFaulty(write: Write): boolean {
    const { kind, user, id } = this.failing ?? {};
    return write.kind === kind && write.user === user && idOf(write) === id;
  }
}

/** An adapter class that the suite tests. */
export type AdapterClass = new (place: Place) => StorageAdapter;

/** A short, correct adapter. A commit changes a copy, so that it is all or nothing. */
export class MapStorage implements StorageAdapter {
  protected plants = new Map<string, OwnedPlant>();
  protected isClosed = false;
  protected readonly place: Place;

  constructor(place: Place) {
    this.place = place;
  }

  async commit(writes: readonly Write[]): Promise<boolean[]> {
    this.refuseIfClosed();
    const plants = new Map(this.plants);
    const outcomes = writes.map((write) => this.apply(plants, write));
    this.plants = plants;
    return outcomes;
  }

  async list(user: string, { after, limit }: ListRange): Promise<PlantPage> {
    this.refuseIfClosed();
    const rest = this.plantsOf(user).filter(({ id }) => after === undefined || id > after);
    return { plants: rest.slice(0, limit), hasMore: rest.length > limit };
  }

  async *scan(): AsyncIterable<OwnedPlant[]> {
    this.refuseIfClosed();
    yield this.copies();
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }

  protected apply(plants: Map<string, OwnedPlant>, write: Write): boolean {
    if (this.place.isFaulty(write)) throw new Error('The disk failed.');
    const key = JSON.stringify([write.user, String(idOf(write))]);
    if (write.kind === 'delete') return plants.delete(key);
    if (plants.has(key)) return false;
    plants.set(key, { user: write.user, plant: { ...write.plant } });
    return true;
  }

  /** Returns copies of a user's plants, sorted by id. */
  protected plantsOf(user: string): Plant[] {
    const owned = this.copies().filter((each) => each.user === user);
    return owned.map(({ plant }) => plant).sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  protected copies(): OwnedPlant[] {
    return [...this.plants.values()].map(({ user, plant }) => ({ user, plant: { ...plant } }));
  }

  protected refuseIfClosed(): void {
    if (this.isClosed) throw new PlantStoreError('closed');
  }
}

/**
 * A short, correct adapter that appends each batch to a file as one line. All open adapters at the same location share
 * a Map with the plants in the file.
 */
export class LogStorage extends MapStorage {
  constructor(place: Place) {
    super(place);
    this.plants = place.shared;
    if (this.plants.size === 0) this.load();
  }

  override async commit(writes: readonly Write[]): Promise<boolean[]> {
    this.refuseIfClosed();
    const batch = structuredClone(writes);
    const end = statSync(this.place.path).size;
    try {
      this.append(batch);
    } catch (error) {
      this.undo(end);
      throw error;
    }
    this.place.commits++;
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
    const isFaulty = batch.some((write) => this.place.isFaulty(write));
    appendFileSync(this.place.path, isFaulty ? text.slice(0, text.length / 2) : text);
    if (isFaulty) throw new Error('The disk failed.');
  }

  /** Removes the text that a failed append left in the file. */
  protected undo(end: number): void {
    truncateSync(this.place.path, end);
  }

  private load(): void {
    closeSync(openSync(this.place.path, 'a'));
    const bytes = readFileSync(this.place.path);
    const end = bytes.lastIndexOf('\n') + 1;
    // A crash may have left an incomplete line.
    truncateSync(this.place.path, end);
    const lines = bytes.toString('utf8', 0, end).split('\n').slice(0, -1);
    for (const write of lines.flatMap((line) => this.decode(line))) this.apply(this.plants, write);
  }
}
