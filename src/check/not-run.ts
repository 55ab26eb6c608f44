/** A check that cannot be run on this server. The message says why. */
export class NotRun extends Error {
  override readonly name = 'NotRun';
}
