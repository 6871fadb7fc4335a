import { defineAgent, openSession, userMessage, type Agent } from "@moora/agent";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Scene } from "@moora/testbed/server/scene";
import { restateSession } from "../src/index.ts";
import { LogScene } from "./log-scene.ts";

const agent = (): Agent => defineAgent({ name: "helper", llm: new MockLlmCaller(() => answers("Hello.")) });

let restate: LogScene;

beforeAll(async () => {
  restate = await LogScene.start(agent());
});

afterAll(async () => {
  await restate[Symbol.asyncDispose]();
});

const times = 10;

const tenTimes = <Result>(run: (index: number) => Promise<Result>): Promise<readonly Result[]> =>
  Promise.all(Array.from({ length: times }, (_, index) => run(index)));

/** The messages of the user in a session. */
async function messagesOf(id: string): Promise<readonly string[]> {
  const session = restateSession({ ingressUrl: restate.server.ingressUrl, agent: "helper", id });
  const { state } = (await session.current()) ?? {};
  return (state?.messages ?? []).filter(({ role }) => role === "user").map(({ content }) => content);
}

const message = (content: string) => userMessage(content, { messageId: "m1" });

describe("ten equal posts at once, and one with their id and another body", () => {
  it("apply once from ten processes that post, and all others get the reason", async () => {
    const { id } = await restate.create();
    const log = restate.openLog();
    const open = () => openSession(agent(), { log, id, access: "post" });
    const posters = await tenTimes(open);
    const ignored = { status: "ignored", reason: "duplicate-id" };
    const receipts = await tenTimes(async (index) => await posters[index]?.dispatch(message("One.")));
    expect(receipts.filter((receipt) => receipt?.status === "accepted")).toHaveLength(1);
    expect(receipts.filter((receipt) => receipt?.status !== "accepted")).toMatchObject(
      Array.from({ length: times - 1 }, () => ignored),
    );
    expect(await posters[0]?.dispatch(message("Two."))).toMatchObject(ignored);
    expect(await messagesOf(id)).toEqual(["One."]);
    for (const poster of posters) await poster.close();
    await log.close();
  });

  it("get one receipt from two servers, which refuse the other body", async () => {
    await using one = new Scene(agent(), { log: restate.openLog() });
    await using other = new Scene(agent(), { log: restate.openLog() });
    const id = await one.as("ada").create();
    const post = (scene: Scene, content: string) =>
      scene.as("ada").post(`/sessions/${id}/messages`, { content }, { "idempotency-key": "first" });
    const receipts = await tenTimes((index) => post(index % 2 === 0 ? one : other, "One."));
    expect(new Set(receipts.map(({ status, body }) => JSON.stringify({ status, body }))).size).toBe(1);
    expect(receipts[0]?.body).toMatchObject({ status: "accepted" });
    const refused = { status: 422, body: { code: "idempotency-key-reused" } };
    for (const scene of [one, other]) expect(await post(scene, "Two.")).toMatchObject(refused);
    expect(await messagesOf(id)).toEqual(["One."]);
  });
});
