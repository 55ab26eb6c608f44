import type { PlantFields } from './data-set.ts';
import type { Exchange } from './load.ts';
import { createText } from './requests.ts';

/** How the interface of a server differs from that of the others. */
export interface Dialect {
  /** The name of the query parameter that limits a list. */
  readonly limitParameter: string;
  readonly createdStatus: number;
  readonly deletedStatus: number;
  /** Whether the response to a create is the plant without its id. */
  readonly returnsPlant: boolean;
  /** Whether the server has users, and stores the plants of all of them. */
  readonly hasAllPlants: boolean;
}

/** The dialect of Plant Store. */
export const plantStoreDialect: Dialect = {
  limitParameter: 'limit',
  createdStatus: 200,
  deletedStatus: 204,
  returnsPlant: true,
  hasAllPlants: true,
};

/** A request that creates a plant, and its response. */
export function createExchange(user: string, id: number, plant: PlantFields, dialect: Dialect): Exchange {
  return {
    request: createText(user, id, plant),
    status: dialect.createdStatus,
    body: dialect.returnsPlant ? Buffer.from(JSON.stringify(plant)) : undefined,
  };
}
