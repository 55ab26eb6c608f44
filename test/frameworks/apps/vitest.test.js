import { afterAll, it, vi } from 'vitest';
import { closePool, settle, storages } from './settle.js';

vi.useFakeTimers();
afterAll(closePool);

for (const [name, create] of Object.entries(storages)) {
  it(name, () => settle(create()));
}
