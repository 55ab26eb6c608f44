import type { OwnedPlant } from '../../../../src/adapter.ts';
import { LogStorage } from './log-storage.ts';
import type { AdapterClass } from './map-storage.ts';

/** Returns an adapter that derives `dataVersion` from the stored plants. */
function hasVersion(versionOf: (plants: readonly OwnedPlant[]) => unknown): AdapterClass {
  return class extends LogStorage {
    dataVersion(): number {
      return versionOf(this.sorted()) as number;
    }
  };
}

/** The adapters whose `dataVersion` is wrong. All these adapters are persistent. */
export const brokenVersions: Readonly<Record<string, AdapterClass>> = {
  KeepsVersion: hasVersion(() => 0),
  CountsPlants: hasVersion((plants) => plants.length),
  ReturnsMaximumId: hasVersion((plants) => Math.max(...plants.map(({ plant }) => Number(plant.id)))),
  AddsLengths: hasVersion((plants) =>
    plants.reduce((sum, { plant }) => sum + Number(plant.id) * 1000 + plant.name.length, 0),
  ),
  ReturnsNaN: hasVersion(() => NaN),
  ReturnsPromise: hasVersion((plants) => Promise.resolve(plants.length)),
};
