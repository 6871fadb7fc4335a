import { userMessage } from "@moora/agent";
import type { Miniflare } from "miniflare";
import { describe, expect, it } from "vitest";
import { Viewer } from "./viewer.ts";
import { useWorkerd } from "./workerd.ts";

const workerd = useWorkerd("object-worker");

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
    ["with the state", "stated", undefined],
    ["with a position", "placed", 0],
  ])("are notified at once, and receive nothing more: %s", async (_, id, after) => {
    await post(id, "One.");
    const viewer = await Viewer.connect(workerd, id, after);
    const isRemoved = (): boolean => viewer.messages.some(({ type }) => type === "removed");
    expect((await request(id, "", { method: "DELETE" })).status).toBe(204);
    await viewer.until(isRemoved);
    const received = [...viewer.messages];
    const next = await Viewer.connect(workerd, id);
    expect((await post(id, "Two.")).status).toBe(200);
    // What is sent to all viewers is sent to the earlier one first.
    await next.until(() => next.text === "Two.");
    expect(received.at(-1)).toEqual({ type: "removed", id });
    expect(viewer.messages).toEqual(received);
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
