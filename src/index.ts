/**
 * The core of the package: the store, the contract for storage adapters, the in-memory adapter, and the errors.
 *
 * @module plant-store
 */

export type { CommitMessage } from './core/write-queue.ts';
export { errorTable, isPlantStoreError, PlantStoreError } from './core/model/errors.ts';
export type { ErrorCode, ErrorRow } from './core/model/errors.ts';
export { PlantStore } from './core/plant-store.ts';
export type { ListOptions, PlantStoreOptions } from './core/plant-store.ts';
export type { NewPlant, Plant, PlantId, PlantIdInput } from './core/model/plant.ts';
export { MemoryStorage } from './storage/memory/memory-storage.ts';
export type { JsonPage } from './core/page.ts';
export type {
  CreateWrite,
  DeleteWrite,
  ListRange,
  OwnedPlant,
  PlantPage,
  StorageAdapter,
  Write,
} from './core/storage-adapter.ts';
export { copyPlants } from './transfer/copy-plants.ts';
export type { CopyCounts, CopyPlantsOptions, PlantConflict } from './transfer/copy-plants.ts';
