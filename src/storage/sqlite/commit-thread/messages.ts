import { PlantStoreError } from '../../../core/model/errors.ts';
import type { ErrorCode } from '../../../core/model/errors.ts';
import type { Write } from '../../../core/storage-adapter.ts';
import type { FileIdentities } from '../open-files.ts';

export interface WorkerSettings {
  readonly path: string;
  readonly identities: FileIdentities;
  readonly busyTimeoutMs: number;
}

/** A batch to commit, or a request to close the connection and end the thread. */
export type ThreadRequest = readonly Write[] | 'close';

export type ThreadResponse = boolean[] | ErrorData;

/** An error as plain data, because a structured clone loses an error's class and codes. */
export interface ErrorData {
  readonly message: string;
  readonly stack: string | undefined;
  readonly codes: Readonly<Record<string, string | number>>;
  readonly plantStoreCode: ErrorCode | undefined;
  readonly cause: ErrorData | undefined;
}

export function toErrorData(error: unknown): ErrorData {
  const known = error instanceof Error ? error : new Error(String(error));
  const { message, stack, cause } = known;
  const codes = Object.entries(known).filter(([, value]) => /^(string|number)$/.test(typeof value));
  return {
    message,
    stack,
    codes: Object.fromEntries(codes),
    plantStoreCode: known instanceof PlantStoreError ? known.code : undefined,
    cause: cause === undefined ? undefined : toErrorData(cause),
  };
}

export function fromErrorData({ message, stack, codes, plantStoreCode, cause }: ErrorData): Error {
  const options = cause === undefined ? {} : { cause: fromErrorData(cause) };
  const error =
    plantStoreCode === undefined ? new Error(message, options) : new PlantStoreError(plantStoreCode, message, options);
  return Object.assign(error, codes, stack === undefined ? {} : { stack });
}
