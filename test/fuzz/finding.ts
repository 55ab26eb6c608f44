/** A rule that the server broke. */
export class Finding extends Error {
  override readonly name = 'Finding';
}

/** Throws a {@link Finding} unless `holds`. */
export function rule(holds: boolean, broken: () => string): asserts holds {
  if (!holds) throw new Finding(broken());
}
