import { setImmediate } from 'node:timers/promises';
import { maxInt64 } from '../../src/core/model/int64.ts';
import type { ListRange, OwnedPlant, Plant, PlantPage, Write } from '../../src/index.ts';
import { changesPages, changesPlants, changesScan, changesTexts, changesUsers, tests } from './faults.ts';
import type { Change, Faults } from './faults.ts';

const byText = (a: Plant, b: Plant): number => (String(a.id) < String(b.id) ? -1 : 1);

const changesRange =
  (change: (range: ListRange) => ListRange): Change =>
  (real) => ({ list: (user: string, range: ListRange) => real.list(user, change(range)) });

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
  'starts at after': [
    tests.random,
    changesRange(({ after, limit }) => ({ after: after === undefined ? after : after - 1n, limit })),
  ],
  'starts at 0': [tests.random, changesRange(({ after = -1n, limit }) => ({ after, limit }))],
  'cannot list after the largest id': [
    tests.random,
    changesRange(({ after, limit }) => ({ after: after === maxInt64 ? undefined : after, limit })),
  ],
  'returns one plant too many': [tests.random, changesRange(({ after, limit }) => ({ after, limit: limit + 1 }))],
  'guesses hasMore': [
    tests.random,
    changesPages((page, limit) => ({ ...page, hasMore: page.plants.length === limit })),
  ],
  'returns at most 100 plants': [
    tests.batch,
    changesPages(({ plants }) => ({ plants: plants.slice(0, 100), hasMore: false })),
  ],
  'returns a number as hasMore': [tests.batch, changesPages((page) => ({ ...page, hasMore: Number(page.hasMore) }))],
  'returns no page': [tests.batch, changesPages(() => undefined)],
  'returns an empty page before others': [
    tests.random,
    changesPages((page, _, after) => (after === 1n ? { plants: [], hasMore: true } : page)),
  ],
  'repeats the first page': [tests.batch, changesRange(({ limit }) => ({ after: undefined, limit }))],
  'has pages without an end': [tests.long, listsPlantsOf((owner, user) => owner === user)],
  'returns the same page again': [
    tests.random,
    (real) => {
      const pages = new Map<string, Promise<PlantPage>>();
      return {
        commit: (writes: Parameters<typeof real.commit>[0]) => {
          pages.clear();
          return real.commit(writes);
        },
        list: (user: string, range: ListRange) => {
          const key = `${user} ${range.after ?? ''} ${range.limit}`;
          const page = pages.get(key) ?? real.list(user, range);
          pages.set(key, page);
          return page;
        },
      };
    },
  ],
  'sorts ids as text': [tests.ids, changesPages(({ plants, hasMore }) => ({ plants: plants.sort(byText), hasMore }))],
  'rounds ids': [tests.ids, changesPlants((plant) => ({ ...plant, id: BigInt(Number(plant.id)) }))],
  'returns ids as numbers': [tests.batch, changesPlants((plant) => ({ ...plant, id: Number(plant.id) }))],
  'returns null as the tag': [tests.texts, changesPlants((plant) => ({ ...plant, tag: plant.tag ?? null }))],
  'loses empty tags': [tests.texts, changesPlants(({ tag, ...plant }) => (tag ? { ...plant, tag } : plant))],
  'returns rows without a prototype': [
    tests.batch,
    changesPlants((plant) => Object.assign(Object.create(null) as object, plant)),
  ],
  'returns more fields': [tests.batch, changesPlants((plant) => ({ ...plant, user: 'ada' }))],
  'returns one constant page': [
    tests.random,
    (real) => {
      const empty = Object.freeze([{ id: 0n, name: '' }]);
      return { list: async () => ({ plants: real.isClosed ? [] : empty, hasMore: false }) };
    },
  ],
  'trims names': [tests.texts, changesTexts((text) => text.trim())],
  'cuts names after 255 characters': [tests.texts, changesTexts((text) => text.slice(0, 255))],
  'normalizes names': [tests.texts, changesTexts((text) => text.normalize('NFC'))],
  'replaces line endings': [tests.texts, changesTexts((text) => text.replaceAll(/\r\n?/g, '\n'))],
  'drops a byte order mark': [tests.texts, changesTexts((text) => new TextDecoder().decode(Buffer.from(text)))],
  'lists the plants of users with the same prefix': [
    tests.users,
    listsPlantsOf((owner, user) => owner.startsWith(user)),
  ],
  'finds inherited properties instead of users': [
    tests.users,
    (real) => ({
      list: async (user: string, range: ListRange) => {
        const page = await real.list(user, range);
        return user in {} ? { plants: [], hasMore: false } : page;
      },
    }),
  ],
  'ignores case in users': [tests.users, changesUsers((user) => user.toLowerCase())],
  'trims users': [tests.users, changesUsers((user) => user.trim() || user)],
  'normalizes users': [tests.users, changesUsers((user) => user.normalize('NFC'))],
  'cuts users after 254 characters': [tests.users, changesUsers((user) => user.slice(0, 254))],
  ...Object.fromEntries(
    ['\u001f', '\r', '\u2029', ':', '/'].map((character) => [
      `replaces the character ${character.charCodeAt(0).toString(16)} in users`,
      [tests.users, changesUsers((user) => user.replaceAll(character, ' '))],
    ]),
  ),
  'reads a page in several steps': [
    tests.during,
    (real) => ({
      list: async (user: string, range: ListRange) => {
        const { plants } = await real.list(user, { ...range, limit: Math.ceil(range.limit / 4) });
        await setImmediate();
        const rest = await real.list(user, { after: plants.at(-1)?.id, limit: range.limit });
        return { plants: [...plants, ...rest.plants].slice(0, range.limit), hasMore: rest.hasMore };
      },
    }),
  ],
};

async function* readByOffset(pageAt: (offset: number) => OwnedPlant[]): AsyncGenerator<OwnedPlant[]> {
  for (let offset = 0; ; offset += 1000) {
    const page = pageAt(offset);
    if (page.length === 0) return;
    yield structuredClone(page);
  }
}

export const faultsOfScans: Faults = {
  'repeats its pages forever': [
    tests.scan,
    changesScan(async function* (real) {
      for (;;) yield* real.scan();
    }),
  ],
  'repeats its pages forever in the same objects': [
    tests.batch,
    changesScan(async function* (_, disk) {
      const page = disk.plants.scan();
      for (;;) yield page;
    }),
  ],
  'returns empty pages forever': [
    tests.scan,
    changesScan(async function* (real) {
      yield* real.scan();
      for (;;) yield [];
    }),
  ],
  'never ends': [
    tests.scan,
    changesScan(async function* (real) {
      real.refuseIfClosed();
      for (let id = 0n; ; id++) yield [{ user: 'ada', plant: { id, name: '' } }];
    }),
  ],
  'repeats the last plant of a page': [
    tests.scan,
    changesScan(async function* (real) {
      let last: OwnedPlant[] = [];
      for await (const page of real.scan()) {
        yield [...last, ...page].slice(0, 1000);
        last = page.slice(-1);
      }
    }),
  ],
  'loses users beyond the first thousand': [
    tests.scan,
    changesScan(async function* (real) {
      const users = new Set<string>();
      for await (const page of real.scan()) yield page.filter(({ user }) => users.size < 1000 && users.add(user));
    }),
  ],
  'pages by offset': [
    tests.scan,
    changesScan((_, disk) => readByOffset((offset) => disk.plants.scan().slice(offset, offset + 1000))),
  ],
  'returns everything in one page': [
    tests.scan,
    changesScan(async function* (real, disk) {
      real.refuseIfClosed();
      yield structuredClone(disk.plants.scan());
    }),
  ],
  'cuts pages by count alone': [
    tests.long,
    changesScan((real, disk) =>
      readByOffset((offset) => (real.isClosed ? [] : disk.plants.scan().slice(offset, offset + 1000))),
    ),
  ],
  'returns users in lower case': [
    tests.users,
    changesScan(async function* (real) {
      for await (const page of real.scan()) yield page.map((owned) => ({ ...owned, user: owned.user.toLowerCase() }));
    }),
  ],
  'returns nothing after close': [
    tests.closed,
    changesScan(async function* (real) {
      if (!real.isClosed) yield* real.scan();
    }),
  ],
  'cannot commit after a scan that ended early': [
    tests.scan,
    (real) => {
      let isBroken = false;
      return {
        commit: async (writes: readonly Write[]) => {
          if (isBroken) throw new Error('A cursor is open.');
          return real.commit(writes);
        },
        scan: async function* () {
          let isComplete = false;
          try {
            yield* real.scan();
            isComplete = true;
          } finally {
            isBroken = !isComplete;
          }
        },
      };
    },
  ],
};
