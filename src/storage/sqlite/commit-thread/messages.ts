import { PlantStoreError } from '../../../core/model/errors.ts';
import type { ErrorCode } from '../../../core/model/errors.ts';
import type { Write } from '../../../core/storage-adapter.ts';
import type { FileIdentities } from '../open-files.ts';

export interface WorkerSettings {
  readonly path: string;
  readonly identities: FileIdentities;
  readonly busyTimeoutMs: number;
}

/**
 * A batch of writes, as a flat array. Each write consists of four items: user, id, name and tag. In a delete write, the
 * name and the tag are `undefined`.
 */
export type Batch = (string | bigint | undefined)[];

/** A request to the worker thread: a batch to commit, or `'close'` to close the storage and end the thread. */
export type ThreadRequest = Batch | 'close';

/** The response to a batch: the outcomes of its writes, or the error. */
export type ThreadResponse = boolean[] | ErrorData;

/** An error as plain data. A structured clone of the error would lose the error's class and codes. */
export interface ErrorData {
  readonly message: string;
  readonly stack: string | undefined;
  /** The error's properties that are strings or numbers, such as its codes. */
  readonly properties: Readonly<Record<string, string | number>>;
  /** The code of a PlantStoreError; `undefined` for any other error. */
  readonly plantStoreCode: ErrorCode | undefined;
  readonly cause: ErrorData | undefined;
}

/** Converts writes to a flat array, which is faster to send than objects. */
export function toBatch(writes: readonly Write[]): Batch {
  return writes.flatMap((write): Batch => {
    if (write.kind === 'delete') return [write.user, write.id, undefined, undefined];
    const { id, name, tag } = write.plant;
    return [write.user, id, name, tag];
  });
}

export function fromBatch(batch: Batch): Write[] {
  const writes: Write[] = [];
  for (let at = 0; at < batch.length; at += 4) {
    const [user, id, name, tag] = batch.slice(at, at + 4) as [string, bigint, string | undefined, string | undefined];
    if (name === undefined) writes.push({ kind: 'delete', user, id });
    else writes.push({ kind: 'create', user, plant: tag === undefined ? { id, name } : { id, name, tag } });
  }
  return writes;
}

/** Converts an error and its causes to plain data. */
export function toErrorData(error: unknown): ErrorData {
  const known = error instanceof Error ? error : new Error(String(error));
  const { message, stack, cause } = known;
  const properties = Object.entries(known).filter(([, value]) => /^(string|number)$/.test(typeof value));
  return {
    message,
    stack,
    properties: Object.fromEntries(properties),
    plantStoreCode: known instanceof PlantStoreError ? known.code : undefined,
    cause: cause === undefined ? undefined : toErrorData(cause),
  };
}

export function fromErrorData({ message, stack, properties, plantStoreCode, cause }: ErrorData): Error {
  const options = cause === undefined ? {} : { cause: fromErrorData(cause) };
  const error =
    plantStoreCode === undefined ? new Error(message, options) : new PlantStoreError(plantStoreCode, message, options);
  return Object.assign(error, properties, stack === undefined ? {} : { stack });
}
