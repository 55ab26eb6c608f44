/**
 * The types for authors of storage adapters.
 *
 * @module plant-store/adapter
 */

export type { Plant, PlantId } from './core/model/plant.ts';
export type {
  CreateWrite,
  DeleteWrite,
  ListRange,
  OwnedPlant,
  PlantPage,
  StorageAdapter,
  Write,
} from './core/storage-adapter.ts';
