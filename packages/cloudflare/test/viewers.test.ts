import type { AgentInput } from "@moora/agent";
import { describe, expect, it } from "vitest";
import type { ObjectSocket, ObjectState } from "../src/platform.ts";
import { Viewers, type ViewerMessage } from "../src/viewers.ts";

/** A socket, and the numbers of the records that it was sent. */
class FakeSocket implements ObjectSocket {
  readonly seqs: number[] = [];
  readonly ends: string[] = [];
  #attachment: unknown;

  send(text: string): void {
    const message: ViewerMessage = JSON.parse(text);
    if (message.type === "input") this.seqs.push(message.seq);
    if (message.type === "removed") this.ends.push(message.id);
  }

  close(code?: number, reason?: string): void {
    this.ends.push(`${code} ${reason}`);
    if (this.ends.length > 2) throw new Error("The socket is closed.");
  }

  serializeAttachment(value: unknown): void {
    this.#attachment = value;
  }

  deserializeAttachment(): unknown {
    return this.#attachment;
  }
}

const input: AgentInput = { type: "session-resumed", timestamp: 1 };

describe("a viewer", () => {
  it("receives a record once that is published while it connects", async () => {
    const sockets: ObjectSocket[] = [];
    const platform: Pick<ObjectState, "acceptWebSocket" | "getWebSockets"> = {
      acceptWebSocket: (socket) => void sockets.push(socket),
      getWebSockets: () => sockets,
    };
    let last = 1;
    const viewers = new Viewers(platform, async (after) =>
      Array.from({ length: last - after }, (_, index) => ({ seq: after + 1 + index, input })),
    );
    const socket = new FakeSocket();
    last = 2;
    const published = viewers.input({ seq: 2, input }, { type: "input", seq: 2, input });
    const added = viewers.add(socket, 1);
    await Promise.all([published, added]);
    expect(socket.seqs).toEqual([2]);
  });

  it("receives the end of the session before its socket is closed, also when that of another one is closed already", () => {
    const sockets = [new FakeSocket(), new FakeSocket()];
    sockets[0]?.close(1001, "Gone.");
    sockets[0]?.close(1001, "Gone.");
    const viewers = new Viewers(
      { acceptWebSocket: () => undefined, getWebSockets: () => sockets },
      async () => [],
    );
    viewers.close({ type: "removed", id: "one" });
    expect(sockets[1]?.ends).toEqual(["one", "1000 The session was removed."]);
  });
});
