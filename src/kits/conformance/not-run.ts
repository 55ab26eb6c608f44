/** Thrown by a check that cannot be run on this server. The message states the reason. */
export class NotRun extends Error {
  override readonly name = 'NotRun';
}
