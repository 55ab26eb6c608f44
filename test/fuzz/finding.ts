/** A rule that the server violated. */
export class Finding extends Error {
  override readonly name = 'Finding';
}

/** Throws a {@link Finding} unless `holds`. */
export function rule(holds: boolean, broken: () => string): asserts holds {
  if (!holds) throw new Finding(broken());
}
