import { styleText } from 'node:util';

/** The formats that the output uses. */
type Format = 'bold' | 'dim' | 'red';

// Node.js 22 treats an empty NO_COLOR as set, but https://no-color.org requires a value.
if (process.env['NO_COLOR'] === '') delete process.env['NO_COLOR'];

/**
 * Formats a text if the stream is a terminal with colours. `NO_COLOR`, if not empty, turns formats off. `FORCE_COLOR`
 * overrides both: 0 turns formats off, and every other number turns them on.
 */
export function styled(format: Format, text: string, stream: NodeJS.WriteStream): string {
  return styleText(format, text, { stream });
}
