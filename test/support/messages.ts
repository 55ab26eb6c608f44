import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { HasAfter } from './temporary-folder.ts';

/** Subscribes to a channel of node:diagnostics_channel until the end of a test, and returns the messages so far. */
export function messagesOf<Message>(t: HasAfter, channel: string): Message[] {
  const messages: Message[] = [];
  const onMessage = (message: unknown): void => {
    messages.push(message as Message);
  };
  subscribe(channel, onMessage);
  t.after(() => {
    unsubscribe(channel, onMessage);
  });
  return messages;
}

/** Returns messages without `durationMs`, which depends on the machine. Throws if it is not a duration. */
export function withoutDuration<Message extends { readonly durationMs: number }>(
  messages: readonly Message[],
): Omit<Message, 'durationMs'>[] {
  return messages.map(({ durationMs, ...rest }) => {
    if (!(durationMs >= 0)) throw new Error(`durationMs is ${durationMs}`);
    return rest;
  });
}
