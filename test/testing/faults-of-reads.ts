import { setImmediate } from 'node:timers/promises';
import { maxInt64 } from '../../src/core/model/int64.ts';
import { cutPage } from '../../src/core/page.ts';
import type { ListRange, OwnedPlant, Plant, Write } from '../../src/index.ts';
import { changesPages, changesPlants, changesRange, changesScan, changesTexts, changesUsers } from './changes.ts';
import type { Change, Faults } from './changes.ts';
import type { Disk, DiskStorage } from './disk-storage.ts';

const byText = (a: Plant, b: Plant): number => (String(a.id) < String(b.id) ? -1 : 1);

const listsPlantsOf =
  (isOwner: (owner: string, user: string) => boolean): Change =>
  (_, disk) => ({
    list: async (user: string, { after, limit }: ListRange) => {
      const owned = disk.plants.scan().filter((each) => isOwner(each.user, user));
      const plants = owned.map(({ plant }) => structuredClone(plant)).filter(({ id }) => id > (after ?? -(2n ** 64n)));
      return { plants: plants.slice(0, limit), hasMore: plants.length > limit };
    },
  });

export const faultsOfLists: Faults = {
  'random batches': {
    'starts at after': changesRange((after, limit) => ({ after: after === undefined ? after : after - 1n, limit })),
    'cannot list after the largest id': changesRange((after, limit) => ({
      after: after === maxInt64 ? undefined : after,
      limit,
    })),
    'returns one plant too many': changesRange((after, limit) => ({ after, limit: limit + 1 })),
    'guesses hasMore': changesPages(({ plants }, limit) => ({ plants, hasMore: plants.length === limit })),
    'returns an empty page before others': changesPages((page, _, after) =>
      after === 1n ? { plants: [], hasMore: true } : page,
    ),
    'returns the objects that it stores': (_, disk) => ({
      list: async (user: string, { after, limit }: ListRange) => cutPage(disk.plants.list(user, { after }), limit),
    }),
  },
  'a batch may contain': {
    'returns at most 100 plants': changesPages(({ plants }) => ({ plants: plants.slice(0, 100), hasMore: false })),
    'returns a number as hasMore': changesPages(({ plants, hasMore }) => ({ plants, hasMore: Number(hasMore) })),
    'returns no page': changesPages(() => undefined),
    'returns ids as numbers': changesPlants((plant) => ({ ...plant, id: Number(plant.id) })),
    'returns rows without a prototype': changesPlants((plant) => Object.assign(Object.create(null) as object, plant)),
    'returns more fields': changesPlants((plant) => ({ ...plant, user: 'ada' })),
  },
  'plants with names': {
    'has pages without an end': listsPlantsOf((owner, user) => owner === user),
  },
  'ids are exact': {
    'sorts ids as text': changesPages(({ plants, hasMore }) => ({ plants: plants.toSorted(byText), hasMore })),
    'rounds ids': changesPlants((plant) => ({ ...plant, id: BigInt(Number(plant.id)) })),
  },
  'names and tags': {
    'returns null as the tag': changesPlants((plant) => ({ ...plant, tag: plant.tag ?? null })),
    'loses empty tags': changesPlants(({ tag, ...plant }) => (tag ? { ...plant, tag } : plant)),
    'trims names': changesTexts((text) => text.trim()),
    'cuts names after 255 characters': changesTexts((text) => text.slice(0, 255)),
    'normalizes names': changesTexts((text) => text.normalize('NFC')),
    'replaces line endings': changesTexts((text) => text.replaceAll(/\r\n?/g, '\n')),
    'drops a byte order mark': changesTexts((text) => new TextDecoder().decode(Buffer.from(text))),
  },
  'users of up to': {
    'lists the plants of users with the same prefix': listsPlantsOf((owner, user) => owner.startsWith(user)),
    'finds inherited properties instead of users': (real) => ({
      list: async (user: string, range: ListRange) =>
        user in {} ? { plants: [], hasMore: false } : real.list(user, range),
    }),
    'ignores case in users': changesUsers((user) => user.toLowerCase()),
    'normalizes users': changesUsers((user) => user.normalize('NFC')),
    'cuts users after 254 characters': changesUsers((user) => user.slice(0, 254)),
    'replaces the character 1f in users': changesUsers((user) => user.replaceAll('\u001f', ' ')),
  },
  'lists during a commit': {
    'reads a page in several steps': (real) => ({
      list: async (user: string, { after, limit }: ListRange) => {
        const { plants } = await real.list(user, { after, limit: Math.ceil(limit / 4) });
        await setImmediate();
        const rest = await real.list(user, { after: plants.at(-1)?.id, limit });
        return { plants: [...plants, ...rest.plants].slice(0, limit), hasMore: rest.hasMore };
      },
    }),
  },
};

async function* pageByOffset(_: DiskStorage, disk: Disk): AsyncGenerator<OwnedPlant[]> {
  for (let offset = 0; ; offset += 1000) {
    const page = disk.plants.scan().slice(offset, offset + 1000);
    if (page.length === 0) return;
    yield structuredClone(page);
  }
}

export const faultsOfScans: Faults = {
  'scan returns': {
    'repeats its pages forever': changesScan(async function* (real) {
      for (;;) yield* real.scan();
    }),
    'returns empty pages forever': changesScan(async function* (real) {
      yield* real.scan();
      for (;;) yield [];
    }),
    'loses users beyond the first thousand': changesScan(async function* (real) {
      const users = new Set<string>();
      for await (const page of real.scan()) yield page.filter(({ user }) => users.size < 1000 && users.add(user));
    }),
    'pages by offset': changesScan(pageByOffset),
    'returns everything in one page': changesScan(async function* (_, disk) {
      yield structuredClone(disk.plants.scan());
    }),
    'cannot commit after a scan that ended early': (real) => {
      let isScanning = false;
      const refuseCommits = async (): Promise<never> => Promise.reject(new Error('A cursor is open.'));
      return {
        commit: (writes: readonly Write[]) => (isScanning ? refuseCommits() : real.commit(writes)),
        scan: async function* () {
          let isComplete = false;
          try {
            yield* real.scan();
            isComplete = true;
          } finally {
            isScanning = !isComplete;
          }
        },
      };
    },
  },
  'names and tags': {
    'scans no tags': changesScan(async function* (real) {
      for await (const page of real.scan()) {
        yield page.map(({ user, plant: { id, name } }) => ({ user, plant: { id, name } }));
      }
    }),
  },
  'plants with names': {
    'cuts pages by count alone': changesScan(pageByOffset),
  },
  'users of up to': {
    'returns users in lower case': changesScan(async function* (real) {
      for await (const page of real.scan()) yield page.map((owned) => ({ ...owned, user: owned.user.toLowerCase() }));
    }),
  },
  'calls after close': {
    'returns nothing after close': (real) => ({
      scan: async function* () {
        if (!real.isClosed()) yield* real.scan();
      },
    }),
  },
};
