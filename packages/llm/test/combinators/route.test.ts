import { fallback, LlmOptionError, route, type LlmRequest } from "@moora/llm";
import { answers, fails, MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { requestOf } from "../fixtures.ts";

const callers = () => ({
  plan: new MockLlmCaller([answers("plan")]),
  sum: new MockLlmCaller([answers("sum")]),
});
const byPurpose = ({ purpose }: LlmRequest): "plan" | "sum" => (purpose === "reflect" ? "sum" : "plan");

describe("route", () => {
  it("calls the chosen caller only, and says which", async () => {
    const { plan, sum } = callers();
    const outcome = await route({ plan, sum }, byPurpose).call(requestOf({ purpose: "reflect" }));
    expect(outcome).toMatchObject({ ok: true, answeredBy: { reasons: ["route: sum"] } });
    expect([plan.callCount, sum.callCount]).toEqual([0, 1]);
  });

  it("keeps the reasons of a choice inside the chosen caller", async () => {
    const inner = fallback([new MockLlmCaller([fails("server")]), new MockLlmCaller([answers("b")])]);
    expect(await route({ inner }, () => "inner").call(requestOf())).toMatchObject({
      answeredBy: { reasons: ["route: inner", "fallback: mock failed: server"] },
    });
  });

  it("fails for an unknown name and for a function that throws, also synchronously", async () => {
    // A function without types may return any text.
    const unknown = route(callers(), () => JSON.parse('"sums"'));
    expect(await unknown.call(requestOf())).toMatchObject({
      failure: { kind: "invalid-request", message: 'route: unknown caller "sums". Known: plan, sum.' },
    });
    const throwing = route(callers(), () => {
      throw new Error("no idea");
    });
    expect(throwing.callSync?.(requestOf())).toMatchObject({
      failure: { kind: "invalid-request", message: "route: choose threw: Error: no idea" },
    });
  });

  it("answers synchronously where all callers do", () => {
    expect(route(callers(), byPurpose).callSync?.(requestOf())).toMatchObject({
      ok: true,
      turn: { parts: [{ text: "plan" }] },
    });
  });

  it("throws without a caller", () => {
    expect(() => route({}, () => JSON.parse('"a"'))).toThrow(LlmOptionError);
  });
});
