import type { Sent } from '../answer.ts';
import { HttpError } from '../http-error.ts';
import { pieceAt } from '../piece.ts';
import type { Closable, UnsentBytes } from '../unsent-bytes.ts';

/** The options of a {@link ListStream}. */
export interface ListStreamOptions {
  /** Yields the pages of the list. The stream always closes this generator. */
  readonly pages: AsyncGenerator<string, void, undefined>;
  /** The user whose plants are listed. Unread bytes count towards this user's limit. */
  readonly user: string;
  readonly unsent: UnsentBytes;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
  /** Called with an error that occurs while the list is read. */
  readonly report: (error: unknown) => void;
  /** Called once, when the stream has ended, has failed or has been cancelled. */
  readonly onEnd?: ((sent: Sent) => void) | undefined;
}

const encoder = new TextEncoder();

/**
 * The underlying source of a `ReadableStream` that sends a list. A page is read only after the previous page has been
 * consumed, so at most one page is buffered. The part of this page that the consumer has not read counts as unsent.
 * {@link UnsentBytes} destroys the stream if its consumer reads too slowly or not at all.
 */
export class ListStream implements Closable {
  readonly #options: ListStreamOptions;
  readonly #onAbort = (): void => {
    void this.#close(false);
  };
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #isClosed = false;
  #page = '';
  #at = 0;

  private constructor(options: ListStreamOptions) {
    this.#options = options;
  }

  /** Creates a stream that sends a list. */
  static create(options: ListStreamOptions): ReadableStream<Uint8Array> {
    // With the default high-water mark of 1, the stream reads one piece ahead. Therefore, unsent bytes are counted even
    // if the stream is never read.
    return new ReadableStream(new ListStream(options));
  }

  /** Called by the stream when it is created. */
  start(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#controller = controller;
    const { signal } = this.#options;
    signal.addEventListener('abort', this.#onAbort, { once: true });
    if (signal.aborted) this.#onAbort();
  }

  /** Called by the stream when the previous piece has been consumed. */
  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    const { unsent, user } = this.#options;
    unsent.delete(this);
    while (this.#at === this.#page.length && !this.#isClosed) await this.#readPage(controller);
    if (this.#isClosed) {
      // This call has no effect if the list is complete or the stream has been cancelled. After an abort, the server
      // usually cancels the stream. If the server reads the stream instead, the stream fails here. It does not fail at
      // the time of the abort, because some servers would log the failure as a fault.
      this.#fail();
      return;
    }
    const piece = pieceAt(this.#page, this.#at);
    this.#at += piece.length;
    controller.enqueue(encoder.encode(piece));
    unsent.set(this, user, piece.length + this.#page.length - this.#at);
  }

  /** Called by the stream when its consumer cancels it. */
  async cancel(): Promise<void> {
    await this.#close(false);
  }

  /** Ends the stream with an error. Called by {@link UnsentBytes} if the consumer is too slow. */
  destroy(): void {
    this.#fail();
    void this.#close(false);
  }

  /** Ends the stream with an error, so that the client does not mistake the incomplete list for a complete one. */
  #fail(): void {
    this.#controller?.error(new HttpError('internal', 'The list ended before it was complete.'));
  }

  /** Reads the next page, or closes the stream at the end. */
  async #readPage(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    try {
      const { value, done } = await this.#options.pages.next();
      if (this.#isClosed) return;
      if (done !== true) {
        this.#page = value;
        this.#at = 0;
        return;
      }
      controller.close();
      await this.#close(true);
    } catch (error) {
      this.#options.report(error);
    }
    await this.#close(false);
  }

  /**
   * Releases the resources of the stream. If a page is being read, the promise resolves after the page has been read.
   */
  async #close(isComplete: boolean): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const { unsent, signal, pages, report, onEnd } = this.#options;
    onEnd?.({ isComplete });
    unsent.delete(this);
    signal.removeEventListener('abort', this.#onAbort);
    this.#page = '';
    this.#at = 0;
    await pages.return().catch(report);
  }
}
