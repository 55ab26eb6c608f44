import { styleText } from 'node:util';

/** The text formats that the output uses. */
type Format = 'bold' | 'dim' | 'red';

// Node.js 22 lets an empty NO_COLOR turn colours off, but https://no-color.org requires a value that is not empty.
if (process.env['NO_COLOR'] === '') delete process.env['NO_COLOR'];

/**
 * Formats a text if the stream is a terminal that supports colours. A `NO_COLOR` that is not empty turns formatting
 * off. `FORCE_COLOR` takes precedence over the stream and over `NO_COLOR`: 0 turns formatting off, and any other number
 * turns it on.
 */
export function styled(format: Format, text: string, stream: NodeJS.WriteStream): string {
  return styleText(format, text, { stream });
}
