import { describe, expect, it } from "vitest";
import * as z from "zod";
import {
  defineAgent,
  defineTool,
  type Agent,
  type AgentConfig,
  type AgentConfigChange,
  type Tool,
} from "../../src/index.ts";
import { callsThenAnswers, never, questionOf, Restarts, resultOf, turns } from "./restarts.ts";
import { graphOf } from "@moora/testbed/graph-of";
import { toolOf } from "@moora/testbed/tool-of";

const approvalAlways = { approval: { policy: "always" as const } };
const blacklist = { toolCalls: { blacklist: ["pay"] } };

/** Hangs at its first attempt and works at its second. */
const pay = (ran: string[], more: object = {}): Tool =>
  defineTool({
    name: "pay",
    description: "Pays.",
    input: z.object({}),
    replay: "keyed",
    ...more,
    execute: (_, { attempt }) => {
      ran.push(`pay ${attempt}`);
      return attempt === 1 ? never() : "paid";
    },
  });

const agentWith = (tools: readonly Tool[], config: AgentConfigChange = {}, calls = ["pay"]): Agent =>
  defineAgent({ llm: callsThenAnswers(...calls.map((name) => ({ name }))), tools, config });

describe("a policy that is tightened between two processes", () => {
  it("closes an approval that is still open for a blacklisted tool", async () => {
    const ran: string[] = [];
    const world = new Restarts();
    await world.crash(agentWith([pay(ran)], approvalAlways));
    const next = await world.open(agentWith([pay(ran)], { ...approvalAlways, ...blacklist }));
    expect(next.questions()).toEqual([]);
    expect(ran).toEqual([]);
    expect(resultOf(next.current())).toMatchObject({ code: "blacklisted" });
    await next.close();
  });

  it("asks about an interrupted call that now needs an approval, as about one with an unknown outcome", async () => {
    const ran: string[] = [];
    const world = new Restarts();
    await world.crash(agentWith([pay(ran)]));
    const next = await world.open(agentWith([pay(ran)], approvalAlways));
    expect(ran).toEqual(["pay 1"]);
    const question = questionOf(next);
    expect(question.about).toBe("outcome");
    expect(await next.decide(question, "approve")).toMatchObject({
      status: "ignored",
      reason: "wrong-decision",
    });
    await next.decide(question, { outcome: "run-again" });
    await turns();
    expect(ran).toHaveLength(2);
    await next.close();
  });

  it("does not ask again about a call that a person has approved", async () => {
    const ran: string[] = [];
    const world = new Restarts();
    const first = await world.open(agentWith([pay(ran)], approvalAlways));
    first.ask("go").then(undefined, () => undefined);
    await turns();
    await first.decide(questionOf(first), "approve");
    await turns();
    const next = await world.open(agentWith([pay(ran)], { ...approvalAlways, limits: { maxSteps: 9 } }));
    expect(ran).toEqual(["pay 1", "pay 2"]);
    await next.close();
  });

  it.each([approvalAlways, blacklist])("applies to a sibling that never began: %j", async (config) => {
    const ran: string[] = [];
    const send = toolOf("send", () => {
      ran.push("send");
      return never();
    });
    const world = new Restarts();
    const one = { toolCalls: { maxParallel: 1 } };
    await world.crash(agentWith([send, pay(ran)], one, ["send", "pay"]));
    const next = await world.open(agentWith([send, pay(ran)], { ...one, ...config }, ["send", "pay"]));
    expect(ran).toEqual(["send"]);
    await next.close();
  });

  it.each([approvalAlways, blacklist])(
    "applies to the next attempt of a call that was running when the policy changed: %j",
    async (config) => {
      const ran: string[] = [];
      const world = new Restarts();
      const first = await world.open(agentWith([pay(ran)]));
      first.ask("go").then(undefined, () => undefined);
      await turns();
      await first.configure(config);
      expect(resultOf(first.current())).toBeNull();
      const next = await world.open(agentWith([pay(ran)], config));
      expect(ran).toEqual(["pay 1"]);
      await next.close();
    },
  );

  it("applies at once when a running session is configured", async () => {
    const ran: string[] = [];
    const tools = [pay(ran, { maxParallel: 1 })];
    await using session = await new Restarts().open(agentWith(tools, {}, ["pay", "pay"]));
    session.ask("go").then(undefined, () => undefined);
    await turns();
    expect(ran).toEqual(["pay 1"]);
    await session.configure(approvalAlways);
    expect(questionOf(session)).toMatchObject({ about: "approval", toolCallId: "call_2" });
  });
});

describe("the order of precedence between the policy and a tool's own approval", () => {
  const asks = async (
    policy: AgentConfig["approval"]["policy"],
    approval?: "always" | "never",
  ): Promise<boolean> => {
    const tool = pay([], { risk: "low", ...(approval === undefined ? {} : { approval }) });
    const session = await new Restarts().open(agentWith([tool], { approval: { policy } }));
    session.ask("go").then(undefined, () => undefined);
    await turns();
    const asked = session.questions().length > 0;
    await session.close();
    return asked;
  };

  it("the policy `always` cannot be weakened by a tool", async () => {
    expect(await asks("always", "never")).toBe(true);
  });

  it("any other policy gives way to the tool", async () => {
    expect(await asks("never", "always")).toBe(true);
    expect(await asks({ tools: ["pay"] }, "never")).toBe(false);
    expect(await asks({ above: "low" }, "never")).toBe(false);
    expect(await asks({ tools: ["pay"] })).toBe(true);
  });
});

describe("a state of the user's own between an approval and the call", () => {
  it("keeps the call waiting over a restart until the state has decided", async () => {
    const ran: string[] = [];
    const graph = graphOf({ WaitingForHuman: { HumanApproved: "Audit" }, Audit: { Clean: "Acting" } });
    const agent = (audit: () => string | Promise<string>): Agent =>
      defineAgent({
        llm: callsThenAnswers({ name: "pay" }),
        tools: [pay(ran)],
        config: { ...approvalAlways, graph },
        states: { Audit: { replay: "safe", handle: audit } },
      });
    const world = new Restarts();
    const first = await world.open(agent(never));
    first.ask("go").then(undefined, () => undefined);
    await turns();
    await first.decide(questionOf(first), "approve");
    await turns();
    expect(first.current().reActContext.control).toMatchObject({ type: "Custom", name: "Audit" });
    const second = await world.open(agent(never));
    expect(ran).toEqual([]);
    const third = await world.open(agent(() => "Clean"));
    expect(ran).toEqual(["pay 1"]);
    await second.close();
    await third.close();
  });
});
