/** An event of a stream of server-sent events; `data` is its text. */
export interface StreamEvent {
  readonly event: string;
  readonly data: string;
}

/** Reads the events of a body by the rules of server-sent events. `onBytes` is called for each piece, also for comments. */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void,
): AsyncGenerator<StreamEvent, void, undefined> {
  const reader = body.getReader();
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
  #event = "";
  #data: string[] = [];

  *add(text: string): Generator<StreamEvent, void, undefined> {
    let start = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
      this.#pieces.push(text.slice(start, end));
      start = end + 1;
      const event = this.#line(this.#pieces.join("").replace(/\r$/, ""));
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
    const event = { event: this.#event, data: this.#data.join("\n") };
    const isEvent = this.#data.length > 0;
    this.#event = "";
    this.#data = [];
    return isEvent ? event : undefined;
  }
}
