import { BuildError, defineAgent, defineData, initialStateOf } from "@moora/agent";
import { MockLlmCaller } from "@moora/llm/testing";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { asked, decided, given, givenAgent, simulate, simulateActions } from "../src/index.ts";
import { payingAgent } from "./paying-agent.ts";

/** Callers without types may pass any value, and callers with types a number that is not one. */
const untyped = (value: object) => Object.assign(JSON.parse("{}"), value);

const agent = payingAgent("keyed");
const broken = { invariants: { never: () => "always broken" } };

const refusal = (message: string): { readonly name: "BuildError"; readonly message: string } => ({
  name: "BuildError",
  message,
});

describe("an input of a transcript", () => {
  it.each([
    ["approve", 'got "approve". Did you mean "approved"?'],
    [{ reject: "no" }, "got an object."],
    [undefined, "got undefined."],
  ])("is not made with the decision %o", (decision, end) => {
    const known =
      'decision must be "approved", "rejected", "run-again", "failed", "unknown", { modified: "..." }, ' +
      '{ answered: "..." }, { worked: "..." }, ';
    const make = (): unknown => Reflect.apply(decided, undefined, ["call_1", decision]);
    expect(make).toThrow(expect.objectContaining(refusal(known + end)));
  });

  it("that does not apply is named with the reason, where a transcript shows something else", () => {
    const transcript = given(asked("Hello"), decided("call_1", "approved"));
    expect(() => transcript.shows("Done")).toThrow(
      "after user-message-received, tool-call-decided (ignored: ",
    );
  });
});

describe("a simulation that would test nothing is refused", () => {
  it.each([
    [{ runs: Number.NaN }, "runs must be a positive integer, got NaN."],
    [{ runs: 0 }, "runs must be a positive integer, got 0."],
    [{ runs: -1 }, "runs must be a positive integer, got -1."],
    [{ runs: 2.5 }, "runs must be a positive integer, got 2.5."],
    [{ runs: "5" }, 'runs must be a positive integer, got "5".'],
    [{ runs: 1, length: Number.NaN }, "length must be a positive integer, got NaN."],
    [{ runs: 1, length: 0 }, "length must be a positive integer, got 0."],
    [{ runs: 1, seed: Number.NaN }, "seed must be an integer, got NaN."],
    [{ runs: 1, thoroughEvery: 0 }, "thoroughEvery must be a positive integer, got 0."],
    [{ runs: 1, texts: [] }, "texts must be a list of messages, at least one, got an array."],
    [{ runs: 1, execute: "pay" }, 'execute must be true, false or a list of names of tools, got "pay".'],
  ])("simulate with %o", async (options, message) => {
    await expect(simulate(agent, untyped({ ...broken, ...options }))).rejects.toMatchObject(refusal(message));
  });

  it("simulateActions with needs that are not a list", async () => {
    const simulated = simulateActions(agent, { actions: [] }, untyped({ needs: "runs" }));
    const message = 'needs must be a list of strings, got "runs".';
    await expect(simulated).rejects.toMatchObject(refusal(message));
  });

  it("simulateActions takes the options of the simulation that found the failure", async () => {
    await expect(simulate(agent, { faults: ["crsh"] })).rejects.toThrow(BuildError);
    const options = { invariants: {}, seed: 3, runs: 5, length: 10, faults: ["crash"] };
    expect((await simulateActions(agent, { actions: [] }, options)).failure).toBeUndefined();
  });
});

describe("givenAgent", () => {
  it("takes an agent that is defined, with its data, or its state", () => {
    const data = defineData({ schema: z.object({ paid: z.number() }), initial: { paid: 3 } });
    const payer = defineAgent({ llm: new MockLlmCaller([]), data });
    for (const begin of [givenAgent(payer), givenAgent(initialStateOf(payer))])
      expect(begin(asked("Pay.")).shows("Planning", "plan/1/1/1").state.data).toEqual({ paid: 3 });
    // @ts-expect-error These are not the tools of an agent.
    expect(() => givenAgent({ tool: {} })).toThrow("Unknown option");
  });
});
