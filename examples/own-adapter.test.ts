// Tests the adapter with Plant Store's adapter test suite.
// In a project of type "module" with Plant Store installed, run `npx node --test own-adapter.test.ts`.
// In a clone of Plant Store, run `npm run build && npx node --test examples/own-adapter.test.ts`.
import type { OwnedPlant } from 'plant-store';
import { testStorageAdapter } from 'plant-store/testing';
import { MapStorage } from './own-adapter.ts';

testStorageAdapter('MapStorage', {
  createLocation: () => {
    const failing = { create: '', delete: '' };
    // The storage itself must be able to fail. For a database, wrap the client that the adapter uses.
    class FailingMap extends Map<string, OwnedPlant> {
      override set(key: string, owned: OwnedPlant): this {
        if (key === failing.create) throw new Error('The disk is full.');
        return super.set(key, owned);
      }

      override delete(key: string): boolean {
        if (key === failing.delete) throw new Error('The disk is full.');
        return super.delete(key);
      }
    }
    return { failing, open: () => new MapStorage(FailingMap) };
  },
  shared: false,
  makeWriteFail: ({ failing }, { kind, user, id }) => {
    failing[kind] = JSON.stringify([user, String(id)]);
  },
});
