import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** A reader of the events of a session, over a connection of its own. It counts what it gets, and does not parse it. */
export class Reader implements Disposable {
  readonly #socket: Socket;
  /** The beginning of an event whose end has not come yet. */
  #rest = "";
  /** The last characters, for a text that comes in two parts. */
  #tail = "";
  events = 0;
  #until: { readonly text: string; readonly found: () => void } | undefined;

  private constructor(socket: Socket) {
    this.#socket = socket;
  }

  static async open(port: number, id: string): Promise<Reader> {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    const reader = new Reader(socket);
    const opened = reader.sees("session-opened");
    socket.setEncoding("utf8").on("data", (text: string) => reader.#read(text));
    socket.write(`GET /sessions/${id}/events HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
    await opened;
    return reader;
  }

  /** Resolves when an event contains a text. */
  sees(text: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#until = { text, found: resolve };
    return promise;
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }

  #read(text: string): void {
    const all = this.#rest + text;
    if (this.#until !== undefined && (this.#tail + text).includes(this.#until.text)) {
      this.#until.found();
      this.#until = undefined;
    }
    this.#tail = text.slice(-30);
    for (let at = all.indexOf("\nevent: "); at >= 0; at = all.indexOf("\nevent: ", at + 1)) this.events += 1;
    this.#rest = all.slice(-7);
  }
}
