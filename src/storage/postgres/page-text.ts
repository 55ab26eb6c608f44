import type { Plant } from '../../core/model/plant.ts';
import { taggedBytes, untaggedBytes } from '../../core/page.ts';

/**
 * PostgreSQL returns a page as two strings. Compared with one row for each plant, this takes the same CPU time in
 * PostgreSQL and much less in Node.js. Both strings are `null` if there are no plants.
 */
export interface PageText {
  /** The ids as 16 hexadecimal digits each. Parsing decimal digits takes seven times as long. */
  readonly ids: string | null;
  /** The names and tags, separated by U+007F. A colon precedes each tag, because a tag can be empty. */
  readonly texts: string | null;
}

/** A control character, which names and tags rarely contain. */
const separator = '\x7f';

/** The minimum size of a plant's JSON in bytes, in SQL. `octet_length` does not read long texts. */
export const minPlantBytes: string = [
  'pg_catalog.octet_length(name)',
  `coalesce(pg_catalog.octet_length(tag) + ${taggedBytes}, ${untaggedBytes})`,
].join(' + ');

/** The columns of a {@link PageText} in SQL. In place of a plant that exceeds `maxBytes`, there are two separators. */
export function pageTextColumns(maxBytes: string): string {
  const plant = `name || coalesce('${separator}:' || tag, '${separator}')`;
  const bounded = `CASE WHEN ${minPlantBytes} <= ${maxBytes} THEN ${plant} ELSE '${separator}${separator}' END`;
  return `pg_catalog.encode(pg_catalog.string_agg(pg_catalog.int8send(id), ''), 'hex') AS ids,
    pg_catalog.string_agg(${bounded}, '${separator}') AS texts`;
}

/** Returns `undefined` if a plant was omitted, or if a name or tag contains a separator. */
export function parsePageText({ ids, texts }: PageText): Plant[] | undefined {
  if (ids === null || texts === null) return [];
  const bytes = Buffer.from(ids, 'hex');
  const int64s = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const plants: Plant[] = [];
  let start = 0;
  for (let at = 0; at < bytes.length; at += 8) {
    const nameEnd = texts.indexOf(separator, start);
    const nextSeparator = texts.indexOf(separator, nameEnd + 1);
    // An omitted plant, or a separator in a name or tag, adds a separator. Then the last plant does not end the text.
    if ((nextSeparator === -1) !== (at + 8 === bytes.length)) return undefined;
    const end = nextSeparator === -1 ? texts.length : nextSeparator;
    const [id, name] = [int64s.getBigInt64(at), texts.slice(start, nameEnd)];
    plants.push(end === nameEnd + 1 ? { id, name } : { id, name, tag: texts.slice(nameEnd + 2, end) });
    start = end + 1;
  }
  return plants;
}
