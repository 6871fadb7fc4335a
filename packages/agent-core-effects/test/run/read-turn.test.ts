import { noUsage, type LlmOutcome, type LlmPart } from "@moora/llm";
import { fails } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { effectsAt, programOf, runProgram, type EffectProgram } from "../../src/index.ts";
import { World } from "../world.ts";

const plan = "plan/1/1/1";

async function observed(parts: readonly LlmPart[], raw?: { readonly id: string }): Promise<World> {
  const outcome: LlmOutcome = {
    ok: true,
    turn: { origin: "own", parts, ...(raw === undefined ? {} : { raw }) },
    model: "own",
    usage: noUsage,
    finish: { unified: "stop", raw: "stop" },
  };
  const world = new World({ parts: { llm: { name: "own", call: async () => outcome } } }).say("q");
  await world.perform(plan);
  return world;
}

const turnIn = (world: World) => world.state.transcript.find((entry) => entry.type === "turn");

describe("a turn of a model is kept as it came", () => {
  it("with what each part, and the whole, is in its provider's words", async () => {
    const parts: readonly LlmPart[] = [
      { type: "reasoning", text: "Hm.", raw: { signature: "s" } },
      { type: "opaque", raw: { redacted: "r" } },
      { type: "text", text: "a", raw: { id: "text_1" } },
    ];
    expect(turnIn(await observed(parts, { id: "turn_1" }))).toMatchObject({ parts, raw: { id: "turn_1" } });
  });

  it("with the raw words of a call, and none of its id as a key", async () => {
    const call: LlmPart = { type: "tool-call", id: "x", name: "search", arguments: "{}", raw: { id: "x" } };
    expect(turnIn(await observed([call]))).toMatchObject({
      parts: [{ type: "call", toolCallId: "call_1", raw: { id: "x" } }],
    });
  });

  it("without them where a caller left out what the port asks for", async () => {
    const parts = JSON.parse(
      '[{"type":"reasoning","text":"Hm."},{"type":"opaque"},{"type":"text","text":"a"}]',
    );
    expect(turnIn(await observed(parts))).toMatchObject({
      parts: [{ type: "reasoning", raw: null }, { type: "opaque", raw: null }, { type: "text" }],
    });
  });
});

describe("a call that failed", () => {
  it("counts what it used", async () => {
    const usage = { ...noUsage, inputTokens: 7 };
    const world = new World({ script: [{ ...fails("server", { retryable: false }), usage }] }).say("q");
    await world.perform(plan);
    expect(world.state.usage.inputTokens).toBe(7);
  });
});

describe("an effect whose driver has waited in vain", () => {
  it("yields the failure of a model that rejects, also when its inputs are taken one by one", async () => {
    const llm = { name: "own", call: () => Promise.reject(new Error("no")) };
    const world = new World({ parts: { llm } }).say("q");
    const effect = effectsAt(world.state)[plan];
    if (effect === undefined) throw new Error("There is no plan.");
    const inputs: unknown[] = [];
    await runProgram(programOf(effect, world.state, world.host), (...batch) => inputs.push(...batch) > 0);
    expect(inputs[1]).toMatchObject({ type: "llm-call-failed", failure: { message: "no" } });
  });

  it("reports the failure as its own", () => {
    const world = new World({ parts: { llm: { name: "own", call: () => new Promise(() => undefined) } } });
    const effect = effectsAt(world.say("q").state)[plan];
    if (effect === undefined) throw new Error("There is no plan.");
    const run: EffectProgram<void> = programOf(effect, world.state, world.host);
    run.next();
    run.next(true);
    expect(run.throw(new Error("Out of time."))).toMatchObject({
      value: { dispatch: [{ type: "llm-call-failed", failure: { message: "Out of time." } }] },
    });
  });
});
