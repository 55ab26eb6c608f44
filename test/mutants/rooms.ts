import type { Fault } from './fault.ts';
import { cliFaults } from './faults/cli.ts';
import { adminFaults } from './faults/cli/admin.ts';
import { commandFaults } from './faults/cli/commands.ts';
import { docsFaults } from './faults/cli/docs.ts';
import { locationFaults } from './faults/cli/locations.ts';
import { outputFaults } from './faults/cli/output.ts';
import { fetchFaults } from './faults/http/fetch.ts';
import { httpListFaults } from './faults/http/lists.ts';
import { httpMessageFaults } from './faults/http/messages.ts';
import { nodeConnectionFaults } from './faults/http/node/connections.ts';
import { nodeMessageFaults } from './faults/http/node/messages.ts';
import { httpRequestFaults } from './faults/http/requests.ts';
import { modelFaults } from './faults/model.ts';
import { storageFaults } from './faults/storage.ts';
import { memoryFaults } from './faults/storage/memory.ts';
import { postgresReadFaults } from './faults/storage/postgres/reads.ts';
import { postgresTableFaults } from './faults/storage/postgres/table.ts';
import { postgresWriteFaults } from './faults/storage/postgres/writes.ts';
import { commitThreadFaults } from './faults/storage/sqlite/commit-thread.ts';
import { sqliteFileFaults } from './faults/storage/sqlite/files.ts';
import { sqlitePlantFaults } from './faults/storage/sqlite/plants.ts';
import { storeFaults } from './faults/store.ts';
import { testingFaults } from './faults/testing.ts';
import { tokenFaults } from './faults/tokens.ts';
import { transferFaults } from './faults/transfer.ts';

/** All faults, by the folder of `src` that they are in. */
export const rooms: Readonly<Record<string, readonly Fault[]>> = {
  model: modelFaults,
  store: storeFaults,
  storage: storageFaults,
  'storage/memory': memoryFaults,
  'storage/sqlite': [...sqliteFileFaults, ...sqlitePlantFaults, ...commitThreadFaults],
  'storage/postgres': [...postgresWriteFaults, ...postgresReadFaults, ...postgresTableFaults],
  http: [...httpRequestFaults, ...httpListFaults, ...httpMessageFaults],
  'http/fetch': fetchFaults,
  'http/node': [...nodeConnectionFaults, ...nodeMessageFaults],
  tokens: tokenFaults,
  transfer: transferFaults,
  testing: testingFaults,
  cli: [...cliFaults, ...locationFaults],
  'cli/admin': adminFaults,
  'cli/commands': commandFaults,
  'cli/docs': docsFaults,
  'cli/output': outputFaults,
};
