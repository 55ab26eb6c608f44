const endOfHead = Buffer.from('\r\n\r\n');

/** Finds the answers in what comes over a connection, at the least cost. It knows no chunked bodies. */
export class AnswerReader {
  readonly #onAnswer: (status: number, isLast: boolean) => void;
  /** The begin of a header whose end is to come. */
  #head: Buffer | undefined;
  #status = 0;
  #isLast = false;
  #missing = 0;

  /** `onAnswer` gets the status of each answer when all of it is in, and whether the server says that it is the last one. */
  constructor(onAnswer: (status: number, isLast: boolean) => void) {
    this.#onAnswer = onAnswer;
  }

  take(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#missing > 0) {
        const taken = Math.min(this.#missing, chunk.length - at);
        this.#missing -= taken;
        at += taken;
        if (this.#missing === 0) this.#onAnswer(this.#status, this.#isLast);
        continue;
      }
      const rest: Buffer =
        this.#head === undefined ? chunk.subarray(at) : Buffer.concat([this.#head, chunk.subarray(at)]);
      const headLength = rest.indexOf(endOfHead);
      if (headLength === -1) {
        this.#head = rest;
        return;
      }
      const bodyAt = headLength + endOfHead.length;
      at += bodyAt - (this.#head?.length ?? 0);
      this.#head = undefined;
      const head = rest.toString('latin1', 0, headLength);
      this.#status = Number(head.slice(9, 12));
      this.#isLast = /\r\nconnection: *close/i.test(head);
      this.#missing = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0);
      if (this.#missing === 0) this.#onAnswer(this.#status, this.#isLast);
    }
  }
}
