import { isPlantStoreError, PlantStoreError } from '../../../core/model/errors.ts';
import type { Write } from '../../../core/storage-adapter.ts';
import type { FileSet } from '../open-files.ts';

export interface ThreadSettings {
  readonly files: FileSet;
  readonly busyTimeoutMs: number;
}

export interface ThreadData extends ThreadSettings {
  /** The thread sets the first element to 1. */
  readonly isRunning: Int32Array;
}

export type ThreadRequest = readonly Write[] | 'close';

export type ThreadResponse = boolean[] | Failure;

/** An error and its own properties, because a structured clone loses an error's class and codes. */
export interface Failure {
  readonly error: Error;
  readonly properties: Readonly<Record<string, unknown>>;
}

export function toFailure(error: Error): Failure {
  return { error, properties: Object.fromEntries(Object.entries(error)) };
}

export function fromFailure({ error, properties }: Failure): Error {
  if (!isPlantStoreError(properties)) return Object.assign(error, properties);
  const { message, cause, stack = message } = error;
  return Object.assign(new PlantStoreError(properties.code, message, { cause }), { stack });
}
