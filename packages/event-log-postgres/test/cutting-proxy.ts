import { once } from "node:events";
import { createServer, type Server, Socket } from "node:net";

/**
 * When to cut a connection that sends an append: before the server receives it, when the server has received it, or when the
 * response of the server arrives at the proxy. `hang`: the connection stays open, but no response is forwarded.
 */
export type Cut = "before" | "during" | "after" | "hang" | "never";

/** A proxy on loopback that cuts connections to a PostgreSQL server in the middle of an append. */
export class CuttingProxy implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Called for each append. */
  cutNext: () => Cut = () => "never";
  cuts = 0;

  private constructor(serverPort: number) {
    this.#server = createServer((client) => this.#join(client, serverPort));
  }

  static async before(serverPort: number): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(serverPort);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get port(): number {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("the proxy does not listen");
    return address.port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }

  #join(client: Socket, serverPort: number): void {
    const server = new Socket().connect(serverPort, "127.0.0.1");
    let cut: Cut = "never";
    for (const socket of [client, server]) {
      this.#sockets.add(socket.setNoDelay().on("error", () => undefined));
      socket.on("close", () => {
        this.#sockets.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
    client.on("data", (bytes) => {
      if (cut === "never" && bytes.includes("moora_append_")) cut = this.#nextCut();
      if (cut === "before") client.destroy();
      else server.write(bytes);
      // The server has received the statement; it notices the closed connection when it responds.
      if (cut === "during") client.resetAndDestroy();
    });
    server.on("data", (bytes) => {
      if (cut === "after") client.destroy();
      else if (cut !== "hang") client.write(bytes);
    });
  }

  #nextCut(): Cut {
    const cut = this.cutNext();
    if (cut !== "never") this.cuts += 1;
    return cut;
  }
}
