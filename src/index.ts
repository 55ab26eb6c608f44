export { errorTable, PlantStoreError } from './errors.ts';
export type { ErrorCode } from './errors.ts';
export { PlantStore } from './plant-store.ts';
export type { ListOptions, PlantStoreOptions } from './plant-store.ts';
export type { NewPlant, Plant, PlantId, StoredPlant } from './plant.ts';
export { MemoryStorage } from './storage/memory.ts';
export type {
  CreateWrite,
  DeleteWrite,
  JsonPage,
  ListRange,
  OwnedPlant,
  PlantKey,
  ScanRange,
  StorageAdapter,
  Write,
} from './storage/storage-adapter.ts';
