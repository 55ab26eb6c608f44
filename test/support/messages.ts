import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { HasAfter } from './temporary-folder.ts';

const events = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'] as const;
type Event = (typeof events)[number];

/** Subscribes to an event of a tracing channel until the end of a test. */
function observe(t: HasAfter, channel: string, event: Event, onMessage: (message: unknown) => void): void {
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

/** Subscribes to all events of a tracing channel, or only to some, and returns an array to which they are added. */
export function eventsOf(t: HasAfter, channel: string, only: readonly Event[] = events): Event[] {
  const seen: Event[] = [];
  for (const event of only) observe(t, channel, event, () => seen.push(event));
  return seen;
}
