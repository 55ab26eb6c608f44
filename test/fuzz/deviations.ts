/**
 * What the server is known to do against the rules, each under a name that the rule carries.
 * A deviation stands here only while somebody is mending it: take its line out to have it found.
 */
export const expectedDeviations: ReadonlySet<Deviation> = new Set<Deviation>([
  'unknown-protocol',
]);

/** A rule that may be broken for a while. */
export type Deviation =
  /** Requests sent behind each other without waiting work at the same time. */
  | 'pipelined-at-once'
  /** A request with two Host headers is served. */
  | 'two-hosts'
  /** A request with two Content-Type headers is served. */
  | 'two-content-types'
  /**
   * What is no request is refused before the requests in front of it have their answers, which may
   * be lost then; or it gets no answer itself, and the connection ends without a word.
   */
  | 'refusal-before-earlier-answers'
  /** A client that has closed its half gets no more answers, and half of one under way. */
  | 'cut-off-when-half-closed'
  /** What comes in one piece with a request that asks for an upgrade is dropped: no answer, and the rest is misread. */
  | 'lost-behind-upgrade'
  /** The connection of a CONNECT stays open where the client sends more and goes away. */
  | 'connect-is-kept'
  /** A client that resets the connection of a CONNECT ends the whole process by an unhandled 'error' event. */
  | 'connect-crashes'
  /** 100 Continue is sent although the request is refused by its header. */
  | 'continue-before-checks'
  /** A DELETE deletes although the body it announces never comes. */
  | 'delete-before-its-body'
  /** HTTP/0.9 and HTTP/2.0 in a request line are served. */
  | 'unknown-version'
  /** RTSP/1.0 and ICE/1.0 in a request line are served as if they were HTTP. */
  | 'unknown-protocol'
  /** An HTTP/1.0 request with Transfer-Encoding is served. */
  | 'coding-in-http-1.0';

/** A rule that the server broke. */
export class Finding extends Error {
  override readonly name = 'Finding';
}

/** Throws a {@link Finding} unless `holds`. */
export function rule(holds: boolean, broken: () => string): asserts holds {
  if (!holds) throw new Finding(broken());
}
