import { faultsIn } from '../../fault.ts';
import type { Fault } from '../../fault.ts';

const plantList = 'test/http/plant-list.test.ts';
const conformance = 'test/http/conformance.test.ts';

/** `src/http`: lists, and the memory that they may use. */
export const httpListFaults: readonly Fault[] = [
  ...faultsIn(
    'src/http/long-lists.ts',
    ['test/http/long-lists.test.ts'],
    [
      {
        name: 'long lists: the Link continues in the middle of the page',
        find: 'ids.findLast((page)',
        replace: 'ids.find((page)',
        tests: [plantList, conformance],
      },
      {
        name: 'long lists: a Link is always sent',
        find: `read > wanted ? lastOf(ids) : ''`,
        replace: 'lastOf(ids)',
        tests: [plantList, conformance],
      },
      {
        name: 'long lists: the list includes plants beyond its limit',
        find: 'return !wanted.done && wanted.value === id;',
        replace: 'return !wanted.done;',
        tests: [plantList, conformance],
      },
      { name: 'long lists: held ids are never released', find: 'this.#heldIds.add(user, -held);', replace: '' },
      {
        name: 'long lists: the held ids of one user are not limited',
        find: 'heldByUser > this.#maxHeldIds * userShare',
        replace: 'heldByUser > Infinity',
      },
      { name: 'long lists: the only long list of a user is refused', find: 'heldByUser > heldByList && ', replace: '' },
      {
        name: 'long lists: one user may hold the ids of all',
        find: 'new UserTotals(maxHeldIds * userShare)',
        replace: 'new UserTotals()',
      },
      {
        name: 'long lists: all lists of one user are prepared at the same time',
        find: 'await this.#enter(request.user);',
        replace: '',
      },
      {
        name: 'long lists: the number of waiting lists is not limited',
        find: 'isFull || queue.length >= maxWaitingOfUser',
        replace: 'isFull',
      },
      {
        name: 'long lists: a list is prepared after its client has disconnected',
        find: `        if (isClientGone()) throw new HttpError('malformed_request');\n        read`,
        replace: '        read',
      },
    ],
  ),
  ...faultsIn(
    'src/http/plant-list.ts',
    [plantList, conformance],
    [
      {
        name: 'plant list: a list cut by its limit has no Link header',
        find: 'headers: nextLink(path, limit, first.last), body',
        replace: 'body',
      },
      {
        name: 'plant list: a list without a limit ends after 1000 plants',
        find: 'body: allPages(store, user, first)',
        replace: 'body: first.json',
      },
      {
        name: 'plant list: a limit above 1000 is treated as 1000',
        find: 'first.count === limit',
        replace: 'first.count <= limit',
      },
      { name: 'plant list: the first of two limit parameters is used', find: 'texts.length > 1 || !/', replace: '!/' },
      {
        name: 'plant list: the first of two after parameters is used',
        find: 'texts.length > 1 || after === undefined',
        replace: 'after === undefined',
      },
      {
        name: 'plant list: an empty limit is treated as 0',
        find: '!/^\\d+$/.test(text)',
        replace: '!/^\\d*$/.test(text)',
      },
      {
        name: 'plant list: a list is not valid JSON if its last page is empty',
        find: 'if (page.count > 0) yield',
        replace: 'if (page.count >= 0) yield',
      },
      {
        name: 'plant list: a list without a limit does not wait for its turn',
        find: 'await pageTurn(user);',
        replace: '',
      },
    ],
  ),
  ...faultsIn(
    'src/http/unsent-bytes.ts',
    ['test/http/unsent-bytes.test.ts'],
    [
      {
        name: 'unsent bytes: one user may use the memory of all',
        find: '>= this.#max * userShare * factor',
        replace: '>= this.#max * factor',
      },
      {
        name: 'unsent bytes: stalled connections are never closed',
        find: 'if (this.#isOver(user)) this.#makeRoom(user);',
        replace: '',
      },
      {
        name: 'unsent bytes: connections of other users are closed',
        find: 'if (pending.user === user || this',
        replace: 'if (pending.user !== user || this',
      },
      {
        name: 'unsent bytes: a connection that reads very slowly is never closed',
        find: 'if (sinceMs > latest) return;',
        replace: 'return;',
      },
    ],
  ),
];
