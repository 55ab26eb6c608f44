import { commitChannel, createChannel, deleteChannel, publishWhenSettled } from './model/diagnostics.ts';
import type { CreateWrite, DeleteWrite } from '../storage/storage-adapter.ts';

/** Publishes a message with the outcome of a create when the create has settled. */
export function publishCreate({ user, plant }: CreateWrite, start: number, created: Promise<boolean>): void {
  publishWhenSettled(createChannel, start, created, ({ error, durationMs }, isNew) => {
    return { user, id: plant.id, error: isNew === false ? 'id_taken' : error, durationMs };
  });
}

/** Publishes a message with the outcome of a delete when the delete has settled. */
export function publishDelete({ user, id }: DeleteWrite, start: number, deleted: Promise<boolean>): void {
  publishWhenSettled(deleteChannel, start, deleted, (outcome, existed = false) => ({ user, id, existed, ...outcome }));
}

/** Publishes a message with the outcome of a commit when the commit has settled. */
export function publishCommit(writes: number, start: number, committed: Promise<unknown>): void {
  publishWhenSettled(commitChannel, start, committed, (outcome) => ({ writes, ...outcome }));
}
