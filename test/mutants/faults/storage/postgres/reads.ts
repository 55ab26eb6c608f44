import { faultsIn } from '../../../fault.ts';
import type { Fault } from '../../../fault.ts';

const postgresStorage = 'test/storage/postgres/postgres-storage.test.ts';
const readGroup = 'test/storage/postgres/read-group.test.ts';

/** `src/storage/postgres`: lists and scans. */
export const postgresReadFaults: readonly Fault[] = [
  ...faultsIn(
    'src/storage/postgres/prepared.ts',
    ['test/storage/postgres/prepared.test.ts'],
    [
      {
        name: 'PostgreSQL prepared statements: a lost statement is an error',
        find: "'26000', //",
        replace: "'26001', //",
      },
      {
        name: 'PostgreSQL prepared statements: a statement that exists is an error',
        find: "'42P05', //",
        replace: "'42P06', //",
      },
      {
        name: 'PostgreSQL prepared statements: a statement whose result has another type is an error',
        find: "'0A000', //",
        replace: "'0A001', //",
      },
      {
        name: 'PostgreSQL prepared statements: any error ends the preparation',
        find: 'if (!unpreparedStates.has(sqlState(error))) throw error;',
        replace: 'if (!unpreparedStates.has(sqlState(error))) { isSupported = false; throw error; }',
      },
      {
        name: 'PostgreSQL prepared statements: statements are prepared after one was rejected',
        find: 'isSupported = false;',
        replace: '',
      },
    ],
  ),
  ...faultsIn(
    'src/storage/postgres/read-group.ts',
    [readGroup],
    [
      {
        name: 'PostgreSQL read group: the number of concurrent statements is unlimited',
        find: 'while (this.#groups < maxGroups && this.#waiting.size > 0)',
        replace: 'while (this.#waiting.size > 0)',
      },
      {
        name: 'PostgreSQL read group: a statement is limited only by its requests',
        find: ' || plants > maxPlants',
        replace: '',
      },
      {
        name: 'PostgreSQL read group: a failed statement counts as running',
        find: 'for (const { reject } of group) reject(error);\n    }',
        replace: 'for (const { reject } of group) reject(error);\n      return;\n    }',
      },
      {
        name: 'PostgreSQL read group: requests that wait are not read after a statement',
        find: 'if (this.#waiting.size > 0) this.#schedule();',
        replace: '',
      },
      {
        name: 'PostgreSQL read group: a user is served until it has no more requests',
        find: 'this.#waiting.delete(user);\n      if (entries.length > 0) this.#waiting.set(user, entries);',
        replace: 'if (entries.length === 0) this.#waiting.delete(user);',
      },
      {
        name: 'PostgreSQL read group: every request has a statement of its own',
        find: 'maxRequests = 64',
        replace: 'maxRequests = 1',
      },
      {
        name: 'PostgreSQL read group: a page of long texts is read together with others again',
        find: 'plants += entry.isLong ? maxPlants : entry.request.limit;',
        replace: 'plants += entry.request.limit;',
      },
    ],
  ),
  ...faultsIn(
    'src/storage/postgres/pages.ts',
    [readGroup],
    [
      {
        name: 'PostgreSQL pages: the size of a result grows with the number of requests',
        find: 'Math.min(share, maxReadBytes / limit)',
        replace: 'maxReadBytes / limit',
      },
      {
        name: 'PostgreSQL pages: pages are returned in the order of the rows',
        find: '[Number(row.nth), row]',
        replace: '[rows.length + 1 - Number(row.nth), row]',
      },
      {
        name: 'PostgreSQL pages: the next plant is returned too',
        find: 'hasMore ? json.slice(0, json.lastIndexOf(plantStart)) : json',
        replace: 'json',
      },
      {
        name: 'PostgreSQL pages: the count includes the next plant',
        find: 'hasMore ? limit : count',
        replace: 'count',
      },
    ],
  ),
  ...faultsIn(
    'src/storage/postgres/rows.ts',
    [postgresStorage],
    [
      {
        name: 'PostgreSQL: a list is longer than its limit',
        find: 'Math.min(maxPageLength, limit - plants.length)',
        replace: 'Math.min(maxPageLength, limit)',
      },
      { name: 'PostgreSQL: a full page is not cut', find: 'return plants.slice(0, end);', replace: 'return plants;' },
      {
        name: 'PostgreSQL: long names are cut',
        find: 'name.length >= maxLength || ',
        replace: '',
      },
      {
        name: 'PostgreSQL: long tags are cut',
        find: ' || (tag?.length ?? 0) >= maxLength',
        replace: '',
      },
      {
        name: 'PostgreSQL: a list after the largest id fails',
        find: 'if (id > maxInt64) break;',
        replace: '',
      },
    ],
  ),
  ...faultsIn(
    'src/storage/postgres/statements.ts',
    [postgresStorage],
    [
      {
        name: 'PostgreSQL: a create overwrites the stored plant',
        find: 'DO NOTHING',
        replace: 'DO UPDATE SET name = EXCLUDED.name',
      },
      {
        name: 'PostgreSQL: a delete removes plants of other users',
        find: `WHERE p."user" = d."user" AND p.id = d.id`,
        replace: 'WHERE p.id = d.id',
      },
      {
        name: 'PostgreSQL: a list includes plants of other users',
        find: 'WHERE "user" = $1',
        replace: 'WHERE "user" >= $1',
      },
      {
        name: 'PostgreSQL: a JSON page includes plants of other users',
        find: 'WHERE p."user" = request."user" AND p.id >= request.first',
        replace: 'WHERE p."user" >= request."user" AND p.id >= request.first',
      },
      {
        name: 'PostgreSQL: a list omits the plant with the smallest id',
        find: 'p.id >= $2::bigint',
        replace: 'p.id > $2::bigint',
      },
      {
        name: 'PostgreSQL: a JSON page omits the plant with the smallest id',
        find: 'p.id >= request.first',
        replace: 'p.id > request.first',
      },
      {
        name: 'PostgreSQL: a scan includes the plant at after',
        find: ', p.id) > ($1,',
        replace: ', p.id) >= ($1,',
      },
      {
        name: 'PostgreSQL: the estimated cost of JSON pages grows with the plants of a user',
        find: 'ORDER BY p.id LIMIT ${maxPageLength + 1}',
        replace: 'ORDER BY p.id',
        tests: [readGroup],
      },
      { name: 'PostgreSQL: a JSON page never has more', find: 'LIMIT request.most + 1', replace: 'LIMIT request.most' },
      {
        name: 'PostgreSQL: a JSON page ends with the next plant',
        find: 'page.ids[least(page.count, request.most)]',
        replace: 'page.ids[page.count]',
      },
      {
        name: 'PostgreSQL: a further column of the table is used as the start of a JSON page',
        find: 'p.id >= request.first',
        replace: 'p.id >= first',
        tests: ['test/storage/postgres/table.test.ts'],
      },
      {
        name: 'PostgreSQL: a list is sorted by the text of the id',
        find: 'AND p.id >= $2::bigint ORDER BY p.id',
        replace: 'AND p.id >= $2::bigint ORDER BY id',
      },
      {
        name: 'PostgreSQL: a JSON page omits long names',
        find: 'CASE WHEN page.longest <= request.max_size AND ',
        replace: 'CASE WHEN ',
      },
      {
        name: 'PostgreSQL: a JSON page of control characters exceeds the maximum',
        find: ' AND octet_length(page.json) < ${maxPageBytes}\n',
        replace: '\n',
      },
    ],
  ),
];
