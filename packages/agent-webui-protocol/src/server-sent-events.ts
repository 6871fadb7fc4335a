/** An event of a stream of server-sent events. */
export interface StreamEvent {
  /** The type; `message` for an event without one. */
  readonly event: string;
  /** The text: its lines, joined with line feeds. */
  readonly data: string;
}

/**
 * Reads the events of a body by the rules of server-sent events (WHATWG HTML, section 9.2): lines end with CR LF, LF or CR, a byte order
 * mark at the beginning is skipped, and an event without data or without its blank line is left out. The fields `id` and `retry` are
 * ignored: a record contains its number, and a client has waits of its own. `onBytes` is called for each piece that arrives, also for
 * comments. The body is canceled when the iteration ends; errors of the body are thrown.
 */
export async function* readServerSentEvents(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void = () => undefined,
): AsyncGenerator<StreamEvent, void, undefined> {
  const reader = body.getReader();
  // Skips a byte order mark, and keeps the beginning of a character until the rest of it arrives.
  const decoder = new TextDecoder();
  const parser = new EventParser();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      onBytes();
      yield* parser.add(decoder.decode(value, { stream: true }));
    }
  } finally {
    // An error of the connection has ended the stream already.
    reader.cancel().catch(() => undefined);
  }
}

class EventParser {
  /** The pieces of a line that has not ended: joined once, so that a long event costs no more than its length. */
  #pieces: string[] = [];
  /** Whether the text so far ends with CR: an LF that follows ends the same line. */
  #endsWithCr = false;
  #event = "";
  #data: string[] = [];

  *add(text: string): Generator<StreamEvent, void, undefined> {
    if (text === "") return;
    let start = this.#endsWithCr && text.startsWith("\n") ? 1 : 0;
    this.#endsWithCr = text.endsWith("\r");
    const ends = /\r\n|\r|\n/g;
    ends.lastIndex = start;
    for (let end = ends.exec(text); end !== null; end = ends.exec(text)) {
      this.#pieces.push(text.slice(start, end.index));
      start = ends.lastIndex;
      const event = this.#line(this.#pieces.join(""));
      this.#pieces = [];
      if (event !== undefined) yield event;
    }
    if (start < text.length) this.#pieces.push(text.slice(start));
  }

  #line(line: string): StreamEvent | undefined {
    if (line === "") return this.#end();
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "event") this.#event = value;
    if (name === "data") this.#data.push(value);
    return undefined;
  }

  #end(): StreamEvent | undefined {
    const event = { event: this.#event || "message", data: this.#data.join("\n") };
    const isEvent = this.#data.length > 0;
    this.#event = "";
    this.#data = [];
    return isEvent ? event : undefined;
  }
}
