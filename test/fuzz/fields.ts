/** A header or trailer field; the name in lower case. */
export interface Field {
  readonly name: string;
  readonly value: string;
}

/** The fields of a header or trailer section. */
export interface FieldBlock {
  readonly fields: readonly Field[];
  /** Reasons why a server may either accept or refuse it. */
  readonly doubts: readonly string[];
}

const fieldLine = /^([!#$%&'*+.^_`|~\dA-Za-z-]+):[ \t]*(.*?)[ \t]*$/s;

/** Parses the lines of a header or trailer section (RFC 9112 §5). Returns `undefined` if one is malformed. */
export function parseFields(lines: readonly string[]): FieldBlock | undefined {
  const fields: Field[] = [];
  const doubts: string[] = [];
  for (const line of lines) {
    if (/[\0\r\n]/.test(line)) return undefined;
    // eslint-disable-next-line no-control-regex -- the pattern matches control characters
    if (/[\x01-\x08\x0b-\x1f\x7f]/.test(line)) doubts.push('control character in a field');
    const last = fields.at(-1);
    if (/^[ \t]/.test(line)) {
      if (last === undefined) return undefined;
      doubts.push('folded line');
      fields[fields.length - 1] = { name: last.name, value: `${last.value} ${line.trim()}`.trim() };
      continue;
    }
    const [, name, value] = fieldLine.exec(line) ?? [];
    if (name === undefined || value === undefined) return undefined;
    fields.push({ name: name.toLowerCase(), value });
  }
  return { fields, doubts };
}

/** Returns all values of a field, in order. */
export function valuesOf(fields: readonly Field[], wanted: string): string[] {
  return fields.filter(({ name }) => name === wanted).map(({ value }) => value);
}

/** Returns the elements of a comma-separated list field, in lower case. */
export function elementsOf(fields: readonly Field[], wanted: string): string[] {
  return valuesOf(fields, wanted)
    .flatMap((value) => value.split(','))
    .map((element) => element.trim().toLowerCase());
}
