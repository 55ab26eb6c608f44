import { after, it, mock } from 'node:test';
import { closePool, settle, storages } from './settle.js';

mock.timers.enable();
after(closePool);

for (const [name, create] of Object.entries(storages)) {
  it(name, () => settle(create()));
}
