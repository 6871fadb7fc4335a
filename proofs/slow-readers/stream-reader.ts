import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** Reads the events of a session, as fast as it is asked to, and checks their order. */
export class StreamReader implements AsyncDisposable {
  readonly #reader: ReadableStreamDefaultReader<string>;
  #rest = "";
  /** The number of the last record. */
  last: number;
  /** How many characters the stream has had. */
  length = 0;
  /** The text that was streamed for the newest message. */
  text = "";
  /** The data of the last record. */
  record = "";
  readonly problems: string[] = [];

  private constructor(body: ReadableStream<Uint8Array<ArrayBuffer>>, after: number) {
    this.#reader = body.pipeThrough(new TextDecoderStream()).getReader();
    this.last = after;
  }

  /** Connects after a record, as a browser does that has lost its connection. */
  static async open(url: string, after = 0): Promise<StreamReader> {
    const headers = { "last-event-id": String(after) };
    const { body, status } = await fetch(`${url}/sessions/long/events`, { headers });
    if (status !== 200 || body === null) throw new Error(`The stream has the status ${status}.`);
    return new StreamReader(body, after);
  }

  /** Reads up to a record, at least. */
  async readTo(seq: number): Promise<void> {
    while (this.last < seq) {
      const { done, value } = await this.#reader.read();
      if (done) throw new Error(`The stream has ended after record ${this.last}.`);
      this.length += value.length;
      const events = (this.#rest + value).split("\n\n");
      this.#rest = events.pop() ?? "";
      for (const event of events) this.#take(event);
    }
  }

  #take(event: string): void {
    const [, id] = /^id: (\d+)$/m.exec(event) ?? [];
    const [, data = "{}"] = /^data: (.*)$/m.exec(event) ?? [];
    if (id !== undefined) return this.#takeRecord(Number(id), data);
    const chunk = JSON.parse(data) as { type?: string; offset: number; text: string };
    if (chunk.type !== "text") return;
    if (chunk.offset > this.text.length) this.problems.push(`The text before ${chunk.offset} is missing.`);
    this.text = this.text.slice(0, chunk.offset) + chunk.text;
  }

  #takeRecord(seq: number, data: string): void {
    this.record = data;
    if (seq !== this.last + 1) this.problems.push(`Record ${seq} follows record ${this.last}.`);
    this.last = seq;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reader.cancel();
  }
}

/** Opens a stream after a record on a connection from which nothing is read. */
export async function openUnread(url: string, after: number): Promise<Socket> {
  const { hostname, port, host } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  await once(socket, "connect");
  socket.pause();
  socket.write(`GET /sessions/long/events?after=${after} HTTP/1.1\r\nhost: ${host}\r\n\r\n`);
  return socket;
}
