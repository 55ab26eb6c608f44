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

/** Returns the id of the check that must fail, with which the key of a broken server begins. */
export function checkOf(key: string): string {
  return key.slice(0, key.indexOf(' '));
}
