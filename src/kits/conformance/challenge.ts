/** The first challenge of a `WWW-Authenticate` header (RFC 9110 §11.6.1). */
export interface Challenge {
  /** The authentication scheme in lower case; empty if there is no challenge. */
  readonly scheme: string;
  /** The parameters, keyed by their names in lower case. */
  readonly parameters: ReadonlyMap<string, string>;
}

/** Parses the first challenge of a `WWW-Authenticate` header. */
export function parseChallenge(header: string): Challenge {
  const [, scheme = '', rest = ''] = /^\s*([\w-]+)(.*)$/s.exec(header) ?? [];
  const pairs = rest.matchAll(/([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/g);
  const parameters = new Map<string, string>();
  for (const [, name = '', quoted, token = ''] of pairs) {
    parameters.set(name.toLowerCase(), quoted?.replaceAll(/\\(.)/g, '$1') ?? token);
  }
  return { scheme: scheme.toLowerCase(), parameters };
}
