// Tests the adapter with Plant Store's adapter test suite.
// In a project with Plant Store installed, run `npx node --test own-adapter.test.ts`.
// In a clone of Plant Store, run `npm run build && npx node --test examples/own-adapter.test.ts`.
import { testStorageAdapter } from 'plant-store/testing';
import { MapStorage } from './own-adapter.ts';

testStorageAdapter('MapStorage', { createLocation: () => ({ open: () => new MapStorage() }), shared: false });
