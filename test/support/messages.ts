import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { HasAfter } from './temporary-folder.ts';

/** Subscribes to an event of a tracing channel until the end of a test. */
function observe(t: HasAfter, channel: string, event: string, onMessage: (message: unknown) => void): void {
  const name = `tracing:${channel}:${event}`;
  subscribe(name, onMessage);
  t.after(() => void unsubscribe(name, onMessage));
}

/** Returns an array to which the message of each operation is added when the operation ends. */
export function messagesOf<Message>(t: HasAfter, channel: string): Message[] {
  const messages: Message[] = [];
  observe(t, channel, 'asyncEnd', (message) => messages.push(message as Message));
  return messages;
}

/** Returns an array to which the name of each event of a tracing channel is added. */
export function eventsOf(t: HasAfter, channel: string): string[] {
  const seen: string[] = [];
  for (const event of ['start', 'end', 'asyncStart', 'asyncEnd', 'error']) {
    observe(t, channel, event, () => seen.push(event));
  }
  return seen;
}
