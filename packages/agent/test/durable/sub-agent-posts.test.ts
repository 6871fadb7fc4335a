import { memoryLog, type EventLog } from "@moora/event-log";
import { answers, callsTools, fails, MockLlmCaller, type MockScript } from "@moora/llm/testing";
import { TestClock } from "@moora/testbed/test-clock";
import { describe, expect, it } from "vitest";
import {
  agentTool,
  defineAgent,
  openSession,
  stateAt,
  userMessage,
  type Agent,
  type DurableSession,
} from "../../src/index.ts";
import { toolOf } from "../support.ts";

const refused = { status: "ignored", reason: "call-ended" };

/** A log with a caller, whose sub-agent does what a script says. */
class Family {
  readonly log: EventLog = memoryLog();
  readonly clock = new TestClock();
  readonly held = Promise.withResolvers<string>();
  readonly child: Agent;
  readonly caller: Agent;

  constructor(script: MockScript) {
    const tools = [toolOf("work", () => this.held.promise)];
    this.child = defineAgent({ name: "child", llm: new MockLlmCaller(script), tools });
    const { log, clock } = this;
    const helper = agentTool(this.child, { name: "helper", description: "Helps.", log, clock });
    const llm = new MockLlmCaller([
      callsTools([{ name: "helper", arguments: { task: "Help." } }]),
      answers("Done."),
    ]);
    this.caller = defineAgent({ name: "caller", llm, tools: [helper] });
  }

  open(): Promise<DurableSession> {
    return openSession(this.caller, { log: this.log, id: "ada", clock: this.clock });
  }

  async childId(): Promise<string> {
    return (await this.log.list()).find(({ id }) => id.startsWith("helper-"))?.id ?? "";
  }

  /** Another process at the session of the sub-agent. */
  async openChild(access: "run" | "post"): Promise<DurableSession> {
    return await openSession(this.child, {
      log: this.log,
      id: await this.childId(),
      clock: this.clock,
      access,
    });
  }

  async messages(): Promise<readonly string[]> {
    const { state } = await stateAt(this.log, await this.childId());
    return state.messages.map(({ content }) => content);
  }
}

describe("a post to the session of a sub-agent", () => {
  it("is refused after its task has ended, in every form", async () => {
    const family = new Family([answers("Helped."), answers("More.")]);
    await using session = await family.open();
    await session.ask("Go.");
    await using poster = await family.openChild("post");
    expect(await poster.send("And now?")).toEqual(refused);
    expect(await poster.dispatch(userMessage("And now?"))).toEqual(refused);
    expect(await poster.dispatch(() => userMessage("And now?"))).toEqual(refused);
    await expect(poster.ask("And now?")).rejects.toMatchObject({ kind: "AgentFailed", reason: "call-ended" });
    expect(await poster.retry()).toEqual({ status: "ignored", reason: "not-failed" });
    expect(await family.messages()).toEqual(["Help.", "Helped."]);
  });

  it("is refused after its task has failed, and so is a retry", async () => {
    const family = new Family([fails("auth"), answers("More.")]);
    await using session = await family.open();
    await session.ask("Go.");
    await using poster = await family.openChild("post");
    expect(await poster.send("And now?")).toEqual(refused);
    expect(await poster.retry()).toEqual(refused);
  });

  it("reaches it while its task runs, and is recognized when it is repeated later", async () => {
    const family = new Family([callsTools([{ name: "work" }]), answers("Helped, too.")]);
    await using session = await family.open();
    const works = Promise.withResolvers<void>();
    session.onEvent((event) => {
      if (event.type === "SubAgentEvent" && event.event.type === "ToolCallStarted") works.resolve();
    });
    const run = session.ask("Go.");
    await works.promise;
    await using poster = await family.openChild("post");
    const message = userMessage("This, too.", { messageId: "m1" });
    expect(await poster.dispatch(message)).toMatchObject({ status: "accepted" });
    family.held.resolve("worked");
    await run;
    expect(await family.messages()).toEqual(["Help.", "This, too.", "Helped, too."]);
    expect(await poster.dispatch(message)).toEqual({ status: "ignored", reason: "duplicate-id" });
    // This process may not have read yet that the task has ended.
    expect(await poster.send("And now?")).toEqual(refused);
  });

  it("is answered if a program runs the session itself", async () => {
    const family = new Family([answers("Helped."), answers("By post."), answers("Here.")]);
    await using session = await family.open();
    await session.ask("Go.");
    await using owner = await family.openChild("run");
    await using poster = await family.openChild("post");
    expect((await poster.ask("And now?")).text).toBe("By post.");
    expect((await owner.ask("And here?")).text).toBe("Here.");
  });
});
