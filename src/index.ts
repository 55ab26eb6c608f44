/**
 * The core of the package: the store, the in-memory storage adapter, and the errors.
 *
 * @module plant-store
 */

export type { CommitMessage } from './core/commit-message.ts';
export { errorTable, PlantStoreError } from './core/model/errors.ts';
export type { ErrorCode } from './core/model/errors.ts';
export { PlantStore } from './core/plant-store.ts';
export type { ListOptions, PlantStoreOptions } from './core/plant-store.ts';
export type { NewPlant, Plant, PlantId } from './core/model/plant.ts';
export { MemoryStorage } from './storage/memory/memory-storage.ts';
export type { JsonPage } from './core/page.ts';
export type { StorageAdapter } from './core/storage-adapter.ts';
export type { CopyCounts, CopyPlantsOptions, PlantConflict } from './transfer/add-plants.ts';
export { copyPlants } from './transfer/copy-plants.ts';
