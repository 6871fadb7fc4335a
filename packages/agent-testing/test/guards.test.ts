import { describe, expect, it } from "vitest";
import {
  asked,
  callsMade,
  cancelled,
  decided,
  opened,
  started,
  succeeded,
  type Transcript,
} from "../src/index.ts";
import { oneCall, plan, withTool } from "./one-tool.ts";

/** Neither the state nor what is wanted is another one: time does not pass, and nothing was counted. */
const checkSame = (after: Transcript, before: Transcript): void => expect(after.state).toEqual(before.state);

describe("a result that comes after its call was cancelled", () => {
  const ended = (): Transcript =>
    withTool({})(asked("q"), oneCall, started("call_1"), cancelled()).shows("Error");

  it("is not taken: the model reads that the call was cancelled (E06)", () => {
    const late = ended().and(succeeded("call_1", "too late"));
    checkSame(late, ended());
    expect(late.call("call_1")?.result).toMatchObject({ isSuccess: false, code: "cancelled-after-start" });
  });

  it("is not taken by the next loop either (E06)", () => {
    const next = ended().and(asked("again"));
    checkSame(next.and(succeeded("call_1", "too late")), next);
  });
});

describe("an approval", () => {
  const ran = (): Transcript =>
    withTool({ approval: "always", onUnknown: "ask" })(
      asked("q"),
      oneCall,
      decided("call_1", "approved"),
      started("call_1"),
      opened(),
    );

  it("does not answer a later question about the same call (H04)", () => {
    const asks = ran().shows("WaitingForHuman", "ask/call_1/2/1/0");
    checkSame(asks.and(decided("call_1", "approved")), asks);
    checkSame(asks.and(decided("call_1", "run-again")), asks);
    checkSame(asks.and(decided("call_1", "approved", { digest: "digest-call_1#2" })), asks);
  });

  it("of the later question lets the call run once more", () => {
    const again = ran()
      .and(decided("call_1", "run-again", { digest: "digest-call_1#2" }))
      .shows("Acting", "tool/call_1/2");
    expect(again.call("call_1")?.result).toBeNull();
  });
});

describe("a restart", () => {
  it.each(["maxTokens", "maxTotalTokens"] as const)("does not renew the budget %s (L11)", (limit) => {
    const spent = withTool({}, { budget: { [limit]: 15 } })(asked("q"), oneCall);
    spent.and(started("call_1"), succeeded("call_1")).shows("Error");
    const taken = withTool({ replay: "safe" }, { budget: { [limit]: 15 } })(asked("q"), oneCall, opened());
    const ended = taken.and(started("call_1"), succeeded("call_1")).shows("Error");
    expect(ended.state.reActContext.control).toMatchObject({ failure: { kind: "BudgetExceeded" } });
  });

  it("does not renew the limit of steps (L11)", () => {
    const ended = withTool({}, { limits: { maxSteps: 1 } })(
      asked("q"),
      oneCall,
      opened(),
      started("call_1"),
      succeeded("call_1"),
    );
    expect(ended.state.reActContext.control).toMatchObject({ failure: { kind: "MaxSteps" } });
  });
});

describe("a call of a tool whose name is a property of every object", () => {
  it.each(["toString", "constructor", "hasOwnProperty", "valueOf", "__proto__"])(
    "asks no question and finds no tool: %s (E10)",
    (name) => {
      const call = callsMade(plan, { call_1: { name } });
      const acts = withTool({}, { approval: { policy: "always" } })(asked("q"), call);
      expect(acts.shows("Acting", "tool/call_1/1").memory.pendingApproval).toBeNull();
    },
  );
});
