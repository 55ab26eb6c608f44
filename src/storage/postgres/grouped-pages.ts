import { nextTick } from 'node:process';
import { maxInt64, minInt64 } from '../../core/model/plant.ts';
import { cutPage, maxPageBytes, maxPageLength } from '../../core/page.ts';
import { runInNeutralContext } from '../../core/grouping.ts';
import type { ListRange, PlantPage } from '../../core/storage-adapter.ts';
import { parsePage, readPlants } from './statements.ts';
import type { PageRow, RunStatement } from './statements.ts';

/** Leaves connections of the pool to commits. A group runs one statement at a time. */
const maxStatements = 4;

/** Bounds the memory that a statement's result needs. */
const maxStatementBytes = 8 * maxPageBytes;

interface WaitingRequest {
  readonly user: string;
  readonly firstId: string;
  readonly limit: number;
  readonly resolve: (page: PlantPage) => void;
  readonly reject: (error: unknown) => void;
}

/** Uses one statement to read the pages that are requested in the same tick, or while `maxStatements` are running. */
export class GroupedPages {
  readonly #run: RunStatement;
  readonly #waiting: WaitingRequest[] = [];
  #statements = 0;

  constructor(run: RunStatement) {
    this.#run = run;
  }

  read(user: string, { after, limit }: ListRange): Promise<PlantPage> {
    if (after === maxInt64) return Promise.resolve({ plants: [], hasMore: false });
    const firstId = String(after === undefined ? minInt64 : after + 1n);
    return new Promise((resolve, reject) => {
      const request = { user, firstId, limit: Math.min(limit, maxPageLength), resolve, reject };
      if (this.#waiting.push(request) === 1) this.#schedule();
    });
  }

  #schedule(): void {
    runInNeutralContext(() => {
      nextTick(() => {
        while (this.#waiting.length > 0 && this.#statements < maxStatements) void this.#settle(this.#takeGroup());
      });
    });
  }

  /** The sum of a group's limits is at most `maxPageLength`. */
  #takeGroup(): WaitingRequest[] {
    let plants = 0;
    const end = this.#waiting.findIndex(({ limit }) => (plants += limit) > maxPageLength);
    return this.#waiting.splice(0, end === -1 ? this.#waiting.length : end);
  }

  async #settle(group: readonly WaitingRequest[]): Promise<void> {
    this.#statements++;
    try {
      const rows = await this.#readRows(group);
      const incomplete: WaitingRequest[] = [];
      for (const [n, request] of group.entries()) {
        const row = rows[n];
        const plants = row && parsePage(row);
        if (plants === undefined) incomplete.push(request);
        else request.resolve(cutPage(plants, request.limit));
      }
      for (const request of incomplete) await this.#readPage(request).then(request.resolve, request.reject);
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
    this.#statements--;
    if (this.#waiting.length > 0) this.#schedule();
  }

  async #readRows(requests: readonly WaitingRequest[]): Promise<PageRow[]> {
    const plants = requests.reduce((sum, { limit }) => sum + limit + 1, 0);
    const maxPlantBytes = Math.floor(maxStatementBytes / plants);
    const columns = [
      requests.map(({ user }) => user),
      requests.map(({ firstId }) => firstId),
      requests.map(({ limit }) => limit),
    ];
    const { rows } = await (requests.length === 1
      ? this.#run('page', [...columns.flat(), maxPlantBytes])
      : this.#run('pages', [...columns, maxPlantBytes]));
    return (rows as PageRow[]).sort((a, b) => Number(a.nth) - Number(b.nth));
  }

  /** Reads a page again, as one row for each plant, because {@link parsePage} could not parse its text. */
  async #readPage({ user, firstId, limit }: WaitingRequest): Promise<PlantPage> {
    const owned = await readPlants(this.#run, 'list', [user, firstId, limit]);
    const plants = owned.map(({ plant }) => plant);
    return cutPage(plants, limit);
  }
}
