import { openSession } from "@moora/agent";
import { memoryLog, MemoryStorage } from "@moora/event-log";
import { answers, callsTools } from "@moora/llm/testing";
import { agentOf } from "@moora/testbed/server/agent-of";
import { TestClock } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import { Scene, type SceneOptions } from "@moora/testbed/server/scene";
import { pollsUntil, toolOf } from "./support.ts";

const talker = () => agentOf(() => answers("Yes."));

const asksFirst = () =>
  agentOf([callsTools([{ name: "pay" }]), answers("Paid.")], {
    tools: [toolOf("pay", () => "ok", { approval: "always" })],
  });

/** Ada owns the sessions, and rev may only read them. */
const authorize: SceneOptions["authorize"] = (request) =>
  request.headers.get("authorization") === "Bearer ada"
    ? { user: "ada" }
    : { user: "rev", mayForeign: (action) => action === "read" };

/** A session with one message, to which the model has answered, and which no server has open. */
async function idle(
  scene: Scene,
  clock: TestClock,
  content = "Hi",
): Promise<{ readonly id: string; readonly seq: number }> {
  const ada = scene.as("ada");
  const id = await ada.create();
  {
    await using stream = await ada.events(id);
    await ada.post(`/sessions/${id}/messages`, { content });
    await stream.until("re-act-observed");
  }
  await clock.advanceAsync(120_000);
  return { id, seq: await lengthOf(scene, id) };
}

/** The number of records in the log of a session. */
const lengthOf = async ({ log }: Scene, id: string): Promise<number> =>
  (await (await log.open(id))?.head()) ?? 0;

describe("a session that is only read", () => {
  it.each(["rev", "ada"])(
    "gets no record, also after each pause, whether %s may write or not",
    async (user) => {
      const clock = new TestClock();
      await using scene = new Scene(talker(), { clock, authorize });
      const { id, seq } = await idle(scene, clock);
      for (let count = 0; count < 3; count += 1) {
        expect((await scene.as(user).get(`/sessions/${id}`)).body).toMatchObject({
          seq,
          state: { opened: 1 },
        });
        await using stream = await scene.as(user).events(id);
        while (stream.seqs.at(-1) !== seq) await stream.next();
        await clock.advanceAsync(120_000);
      }
      expect(await lengthOf(scene, id)).toBe(seq);
    },
  );

  it("is claimed by the next post, whose answer its viewers see", async () => {
    const clock = new TestClock();
    await using scene = new Scene(
      agentOf(() => answers("word ".repeat(50))),
      { clock, authorize },
    );
    const { id, seq } = await idle(scene, clock);
    await using stream = await scene.as("rev").events(id, seq);
    const receipt = await scene.as("ada").post(`/sessions/${id}/messages`, { content: "More" });
    expect(receipt.body).toEqual({ status: "accepted", seq: seq + 2 });
    await stream.until("re-act-observed");
    expect(stream.inputs[0]?.input.type).toBe("session-opened");
    expect(stream.chunks.length).toBeGreaterThan(0);
  });

  it("is claimed by the server that shows it when another process has posted and left", async () => {
    const clock = new TestClock();
    const storage = new MemoryStorage();
    await using scene = new Scene(talker(), { clock, authorize, log: memoryLog(storage) });
    const { id, seq } = await idle(scene, clock);
    await using stream = await scene.as("rev").events(id, seq);
    const poster = await openSession(talker(), {
      log: memoryLog(storage),
      id,
      user: "ada",
      clock,
      access: "post",
    });
    await poster.send("More");
    await poster.close();
    const answered = stream.until("re-act-observed");
    await pollsUntil(clock, async () => expect(stream.inputs.at(-1)?.input.type).toBe("re-act-observed"));
    await answered;
  });

  it("shows its open question, which can be decided", async () => {
    const clock = new TestClock();
    await using scene = new Scene(asksFirst(), { clock, authorize });
    const ada = scene.as("ada");
    const { id, seq } = await idle(scene, clock, "Pay");
    const { questions } = (await scene.as("rev").get(`/sessions/${id}`)).body;
    expect(questions).toMatchObject([{ about: "approval", name: "pay" }]);
    expect(await lengthOf(scene, id)).toBe(seq);
    await using stream = await ada.events(id, seq);
    const { toolCallId, digest } = questions[0];
    const receipt = await ada.post(`/sessions/${id}/decisions`, { toolCallId, digest, decision: "approve" });
    expect(receipt.body).toMatchObject({ status: "accepted" });
    await stream.until("tool-call-completed");
  });

  it("is claimed when the deadline of its question is due, while a viewer waits", async () => {
    const clock = new TestClock();
    const agent = agentOf([callsTools([{ name: "pay" }]), answers("Too late.")], {
      tools: [toolOf("pay", () => "ok", { approval: "always" })],
      config: { approval: { policy: "always", expiresAfterMs: 600_000 } },
    });
    await using scene = new Scene(agent, { clock, authorize, limits: { streamLifetimeMs: 3_600_000 } });
    const { id, seq } = await idle(scene, clock, "Pay");
    await using stream = await scene.as("rev").events(id, seq);
    const ended = stream.until("re-act-observed");
    await clock.advanceAsync(470_000);
    expect(await lengthOf(scene, id)).toBe(seq);
    await pollsUntil(clock, async () => expect(await lengthOf(scene, id)).toBeGreaterThan(seq));
    await ended;
  });
});
