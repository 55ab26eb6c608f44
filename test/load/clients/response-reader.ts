const endOfHead = Buffer.from('\r\n\r\n');

/** Finds the responses in the bytes of a connection, with little CPU. It does not support chunked bodies. */
export class ResponseReader {
  readonly #onResponse: (status: number, isLast: boolean) => void;
  /** The start of an incomplete header. */
  #head: Buffer | undefined;
  #status = 0;
  #isLast = false;
  #missing = 0;

  /** Calls `onResponse` after each complete response, with its status and whether the server closes the connection. */
  constructor(onResponse: (status: number, isLast: boolean) => void) {
    this.#onResponse = onResponse;
  }

  add(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#missing > 0) {
        const added = Math.min(this.#missing, chunk.length - at);
        this.#missing -= added;
        at += added;
        if (this.#missing === 0) this.#onResponse(this.#status, this.#isLast);
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
      if (this.#missing === 0) this.#onResponse(this.#status, this.#isLast);
    }
  }
}
