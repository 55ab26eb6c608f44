import { afterAll, it, jest } from '@jest/globals';
import { closePool, settle, storages } from './settle.js';

afterAll(closePool);

for (const [name, create] of Object.entries(storages)) {
  it(name, async () => {
    // The `Pool` of pg needs process.nextTick, which is fake by default.
    jest.useFakeTimers({ doNotFake: name === 'PostgresStorage' ? ['nextTick'] : [] });
    await settle(create());
  });
}
