import { describe, expect, it } from "vitest";
import type { AgentConfigChange } from "@moora/agent";
import { simulateActions, type ModelAnswer, type SimAction } from "../../src/index.ts";
import { payingAgent } from "../paying-agent.ts";
import { shopAgent } from "../shop-agent.ts";

/** Sessions in which the simulation found a defect once, as short as it made them. */

const message: SimAction = { type: "message", text: "Hello." };
const crash: SimAction = { type: "crash" };

const callsFor = (...calls: readonly (readonly [name: string, args: object])[]): SimAction => {
  const answer: ModelAnswer = {
    kind: "calls",
    calls: calls.map(([name, args]) => ({ name, arguments: JSON.stringify(args) })),
  };
  return { type: "model-answers", answer };
};

const pay = callsFor(["pay", { euros: 1 }]);
const always: AgentConfigChange = { approval: { policy: "always" } };

const failureToLine = (failure: unknown): string => (failure instanceof Error ? String(failure) : "none");

const failureOf = async (
  agent: Parameters<typeof simulateActions>[0],
  actions: readonly SimAction[],
  setup: object = {},
): Promise<string> => failureToLine((await simulateActions(agent, { ...setup, actions })).failure);

describe("a result whose append was not confirmed, and which the append of a pause finds in the log", () => {
  it("continues the session although the pause cannot be stored", async () => {
    const result: SimAction = {
      type: "tool-answers",
      answer: { kind: "success", outcome: { isSuccess: true, content: "paid" } },
    };
    const fails = (how: "busy" | "unconfirmed"): SimAction => ({ type: "write-fails", how });
    const actions: readonly SimAction[] = [
      message,
      pay,
      fails("busy"),
      result,
      fails("unconfirmed"),
      message,
      fails("busy"),
      { type: "pause" },
    ];
    expect(await failureOf(payingAgent("keyed"), actions)).toBe("none");
  });
});

describe("a call that had begun to run is never reported as one that did not run", () => {
  it("when the next release changes the schema of a tool that is probed", async () => {
    const release: SimAction = { type: "release", release: { change: "schema", tool: "ship" } };
    const ship = callsFor(["ship", {}]);
    expect(await failureOf(shopAgent, [message, ship, release, crash])).toBe("none");
  });
});

describe("a model call", () => {
  it("is given up only after as many attempts as the configuration allows, whatever releases come", async () => {
    const limit = (maxToolAttempts: number): SimAction => ({
      type: "release",
      release: { change: "limits", config: { retries: { maxToolAttempts } } },
    });
    const actions: readonly SimAction[] = [message, limit(2), crash, { type: "take-up" }, limit(1), crash];
    expect(await failureOf(payingAgent("keyed"), actions)).toBe("none");
  });
});

describe("a host whose onApproval approves everything", () => {
  it("runs a call that a probe knows not to have run as its next attempt, also where that needs an approval now", async () => {
    const appended: SimAction = { type: "append-ends" };
    const actions: readonly SimAction[] = [
      message,
      appended,
      appended,
      callsFor(["ship", {}]),
      { type: "release", release: { change: "approval-tightened", config: always } },
      appended,
      { type: "lease", renewal: "lost" },
      appended,
      { type: "take-up", approvesAll: true },
    ];
    expect(await failureOf(shopAgent, actions, { asyncAppends: true })).toBe("none");
  });

  it.each(["busy", "nothing-written", "unconfirmed", "torn"] as const)(
    "gets its decision through although the append of it fails: %s",
    async (how) => {
      const fails: SimAction = { type: "write-fails", how, on: "decision" };
      const setup = { config: always, approvesAll: true };
      expect(await failureOf(payingAgent("keyed"), [message, fails, pay], setup)).toBe("none");
    },
  );
});

describe("a cancel that comes while calls are being stored", () => {
  it("is stored before any of them begins", async () => {
    const appended: SimAction = { type: "append-ends" };
    const cancel: SimAction = { type: "cancel" };
    const actions: readonly SimAction[] = [message, appended, appended, pay, cancel, appended, appended];
    expect(await failureOf(payingAgent("keyed"), actions, { asyncAppends: true })).toBe("none");
  });
});

describe("a record that no log takes", () => {
  it("is the result of a tool: the session settles and accepts messages", async () => {
    const oversized: SimAction = { type: "tool-answers", answer: { kind: "oversized" } };
    expect(await failureOf(payingAgent("keyed"), [message, pay, oversized, message])).toBe("none");
  });
});

describe("a host that loses its lease", () => {
  it("keeps the session where the renewal fails once", async () => {
    const fails: SimAction = { type: "lease", renewal: "fails" };
    expect(await failureOf(payingAgent("keyed"), [message, pay, fails])).toBe("none");
  });
});
