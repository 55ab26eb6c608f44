import { styleText } from 'node:util';

/** The text formats that the output uses. */
type Format = 'bold' | 'dim' | 'red';

// In Node.js 22, an empty NO_COLOR turns colors off, but https://no-color.org requires a non-empty value.
if (process.env['NO_COLOR'] === '') delete process.env['NO_COLOR'];

/**
 * Formats a text if the stream is a terminal that supports colors. A non-empty `NO_COLOR` variable turns formatting
 * off. The `FORCE_COLOR` variable takes precedence over the stream and over `NO_COLOR`: 0 turns formatting off, and any
 * other number turns it on.
 */
export function styled(format: Format, text: string, stream: NodeJS.WriteStream): string {
  return styleText(format, text, { stream });
}
