import { tracingChannel } from 'node:diagnostics_channel';
import type { HasAfter } from './temporary-folder.ts';

type Event = 'start' | 'end' | 'asyncStart' | 'asyncEnd' | 'error';

/** Subscribes to a tracing channel until the end of a test. */
function observe(t: HasAfter, channel: string, onEvent: (event: Event, message: unknown) => void): void {
  const on = (event: Event) => onEvent.bind(undefined, event);
  const [start, end, error] = [on('start'), on('end'), on('error')];
  const subscribers = { start, end, asyncStart: on('asyncStart'), asyncEnd: on('asyncEnd'), error };
  tracingChannel(channel).subscribe(subscribers);
  t.after(() => {
    tracingChannel(channel).unsubscribe(subscribers);
  });
}

/** Returns an array to which the message of each operation is added when the operation ends. */
export function messagesOf<Message>(t: HasAfter, channel: string): Message[] {
  const messages: Message[] = [];
  observe(t, channel, (event, message) => {
    if (event === 'asyncEnd') messages.push(message as Message);
  });
  return messages;
}

export function eventsOf(t: HasAfter, channel: string): Event[] {
  const events: Event[] = [];
  observe(t, channel, (event) => {
    events.push(event);
  });
  return events;
}
