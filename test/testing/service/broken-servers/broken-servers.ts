import type { BrokenServers } from './fault.ts';
import { brokenIsolations } from './isolation.ts';
import { brokenLists } from './lists.ts';
import { brokenProtocols } from './protocol.ts';
import { brokenWrites } from './writes.ts';

export const brokenServers: BrokenServers = {
  ...brokenWrites,
  ...brokenLists,
  ...brokenIsolations,
  ...brokenProtocols,
};
