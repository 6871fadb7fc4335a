import { DBOSClient } from "@dbos-inc/dbos-sdk";
import { openSession, userMessage, verifySession } from "@moora/agent";
import { dbosLog } from "@moora/dbos";
import { describe, expect, it } from "vitest";
import type { KeyedPostOrders } from "./children/keyed-posts.ts";
import { servedAgent } from "./server-scene.ts";
import { HostProcess } from "./host-process.ts";
import { isDone, Scene } from "./support.ts";

describe("a post over dbosLog whose process is killed while it appends", { timeout: 240_000 }, () => {
  it.each(["killed-before", "killed-after"] as const)("is applied once and answered: %s", async (at) => {
    await using scene = await Scene.start();
    const agent = { ...servedAgent([]), name: "lists" };
    const base = { url: scene.url, input: "user-message-received" } as const;
    const orders: KeyedPostOrders = { ...base, executor: "one", at };
    await using killed = new HostProcess("keyed-posts.ts", orders);
    await killed.launched();
    const client = await DBOSClient.create({ systemDatabaseUrl: scene.url });
    const log = dbosLog({ log: scene.log, client, waitMs: 200_000 });
    // The host opens the session, so that the first append of the message is not one that conflicts with its opening.
    await killed.send({ type: "read", id: "ada" });
    const session = await openSession(agent, { log, id: "ada", access: "post" });
    const posting = session.dispatch(userMessage("Hello"));
    await killed.ended;
    const nextOrders: KeyedPostOrders = { ...orders, executor: "two", at: "nothing" };
    await using next = new HostProcess("keyed-posts.ts", nextOrders);
    await next.launched();
    await next.resume();
    await posting;
    const state = await scene.until("ada", isDone);
    expect(state.messages.map(({ content }) => content)).toEqual(["Hello", "Done."]);
    expect(await verifySession(scene.log, "ada")).toMatchObject({ ok: true });
    await session.close();
    await client.destroy();
  });
});

describe("a server with dbosLog in the process of the host", { timeout: 240_000 }, () => {
  it("posts, and shows the answer", async () => {
    await using scene = await Scene.start();
    await using both = new HostProcess("served-host.ts", { url: scene.url, executor: "both" });
    expect((await both.prints(/^shown (.*)$/m))[1]).toBe("accepted Hello.");
    await both.ended;
  });
});
