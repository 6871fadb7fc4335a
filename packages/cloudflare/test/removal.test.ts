import { userMessage } from "@moora/agent";
import type { ViewerMessage } from "@moora/cloudflare";
import type { Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleWorker, startWorkerd, StorageFolder } from "./workerd.ts";

let workerd: Miniflare;
const folder = new StorageFolder();

beforeAll(async () => {
  workerd = startWorkerd({
    code: await bundleWorker("object-worker"),
    objects: { SESSIONS: "Sessions" },
    folder: folder.path,
  });
  await workerd.ready;
});

afterAll(async () => {
  await workerd.dispose();
  folder[Symbol.dispose]();
});

type Init = NonNullable<Parameters<Miniflare["dispatchFetch"]>[1]>;

const request = (id: string, path: string, init: Init = {}) =>
  workerd.dispatchFetch(`http://localhost/sessions/${id}${path}`, {
    ...init,
    headers: { object: id, ...(path.startsWith("/events") ? { upgrade: "websocket" } : {}) },
  });

const post = (id: string, text: string) =>
  request(id, "/inputs", { method: "POST", body: JSON.stringify(userMessage(text)) });

describe("the viewers of a session that is removed", () => {
  it.each([
    ["with the state", "stated", "/events"],
    ["with a position", "placed", "/events?after=0"],
  ])("are notified at once, and receive nothing more: %s", async (_, id, events) => {
    await post(id, "One.");
    const { webSocket } = await request(id, events);
    if (webSocket === null) throw new Error("The object accepts no socket.");
    const messages: ViewerMessage[] = [];
    const removed = Promise.withResolvers<void>();
    webSocket.addEventListener("message", ({ data }) => {
      const message = JSON.parse(data as string) as ViewerMessage;
      messages.push(message);
      if (message.type === "removed") removed.resolve();
    });
    webSocket.accept();
    expect((await request(id, "", { method: "DELETE" })).status).toBe(204);
    await removed.promise;
    expect((await post(id, "Two.")).status).toBe(200);
    expect(messages.at(-1)).toEqual({ type: "removed", id });
  });

  it("are refused if they have more records than the session that follows it", async () => {
    await post("shorter", "One.");
    const response = await request("shorter", "/events?after=99");
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { code: "cursor-beyond-end", detail: expect.stringMatching(/no record 99; the last one is \d+\.$/) },
    ]);
  });
});
