import type { Plant } from '../../src/index.ts';
import type { OwnedPlant } from '../../src/adapter.ts';

/** The operation that a request performs. */
export type Operation =
  | { readonly kind: 'create'; readonly user: string; readonly plant: Plant }
  | { readonly kind: 'delete'; readonly user: string; readonly id: bigint }
  | {
      readonly kind: 'list';
      readonly user: string;
      readonly limit: number | undefined;
      readonly after: bigint | undefined;
    }
  | { readonly kind: 'openapi' }
  | { readonly kind: 'options' };

/** All plants in a store. */
export type Stored = readonly OwnedPlant[];

/** The response to an operation, and the plants that are stored afterwards. */
export interface Outcome {
  /** The integer of the error with which the server refuses the operation. */
  readonly error?: number;
  readonly json?: unknown;
  readonly link?: string;
  readonly stored: Stored;
}

/** Returns a user's plants in ascending order of id. */
export function plantsOf(stored: Stored, user: string): Plant[] {
  const plants = stored.filter((owned) => owned.user === user).map(({ plant }) => plant);
  return plants.sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Performs an operation as specified, in a slow but simple way. */
export function perform(operation: Operation, stored: Stored): Outcome {
  if (operation.kind === 'openapi' || operation.kind === 'options') return { stored };
  if (operation.kind === 'list') return { ...list(operation, plantsOf(stored, operation.user)), stored };
  const { user } = operation;
  const id = operation.kind === 'create' ? operation.plant.id : operation.id;
  const others = stored.filter((owned) => owned.user !== user || owned.plant.id !== id);
  const exists = others.length < stored.length;
  if (operation.kind === 'delete') return exists ? { stored: others } : { error: 40402, stored };
  if (exists) return { error: 40003, stored };
  return { json: shown(operation.plant), stored: [...stored, { user, plant: operation.plant }] };
}

function list(
  { limit = Infinity, after }: Extract<Operation, { kind: 'list' }>,
  plants: readonly Plant[],
): Pick<Outcome, 'json' | 'link'> {
  const all = plants.filter(({ id }) => after === undefined || id > after);
  const page = all.slice(0, limit);
  const json = page.map(shown);
  const last = page.at(-1);
  if (last === undefined || page.length === all.length) return { json };
  return { json, link: `</plants?limit=${limit}&after=${last.id}>; rel="next"` };
}

function shown({ name, tag }: Plant): object {
  return tag === undefined ? { name } : { name, tag };
}
