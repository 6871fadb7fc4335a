import type { LlmRequest } from "../../request.ts";
import { check, equal, failedAs, succeeded } from "./check.ts";
import type { ConformanceCase, LlmHarness, ScriptedAnswer } from "./harness.ts";
import { answered, askingWithTools, patient, text, user } from "./requests.ts";

const thinking: ScriptedAnswer = {
  reasoning: "I must add.",
  ...text("Let me see."),
  calls: [{ name: "add", arguments: ["{}"] }],
};

/** A conversation whose first turn was thought about, as its next request. */
async function thoughtAbout({ caller, serve }: LlmHarness, model: string): Promise<LlmRequest> {
  serve({ type: "answers", answer: thinking }, { type: "answers", answer: text("3") });
  const first = askingWithTools({ model });
  const { turn } = succeeded(await caller.call(first, patient));
  return { ...first, messages: [...first.messages, answered(turn, "3"), user("And then?")] };
}

const carries = (body: string | undefined, issued: readonly string[]): boolean =>
  issued.length > 0 && issued.every((token) => body?.includes(JSON.stringify(token)));

/** Reasoning that a provider signed or encrypted. */
export const reasoningCases: readonly ConformanceCase[] = [
  {
    name: "reasoning goes back as it was to its origin, to nobody else, and back again",
    needs: ["signed-reasoning"],
    async run(harness) {
      const { caller, bodies, issued } = harness;
      const next = await thoughtAbout(harness, "model-a");
      for (const model of ["model-a", "model-b", "model-a"]) {
        succeeded(await caller.call({ ...next, model }, patient));
        const wanted = model === "model-a";
        equal(carries(bodies.at(-1), issued), wanted, `whether ${model} got the reasoning`);
        check(wanted || bodies.at(-1)?.includes("I must add.") === false, `${model} could read it`);
      }
    },
  },
  {
    name: "reasoning that led to nothing stays behind",
    needs: ["signed-reasoning"],
    async run(harness) {
      const { caller, bodies, issued } = harness;
      const next = await thoughtAbout(harness, "model-a");
      const messages = next.messages.map((message) =>
        message.role === "assistant"
          ? { ...message, turn: { ...message.turn, parts: message.turn.parts.slice(0, 1) }, results: [] }
          : message,
      );
      succeeded(await caller.call({ ...next, messages }, patient));
      check(!carries(bodies.at(-1), issued), "reasoning without what it led to was sent");
    },
  },
  {
    name: "reasoning that is rejected is left out once, with a warning",
    needs: ["signed-reasoning"],
    async run(harness) {
      const { caller, serve, bodies, issued } = harness;
      const next = await thoughtAbout(harness, "model-a");
      serve(
        { type: "says", status: 400, error: "rejected-reasoning" },
        { type: "answers", answer: text("3") },
      );
      const outcome = succeeded(await caller.call(next, patient));
      equal(bodies.length, 3, "the number of requests");
      equal(
        bodies.slice(1).map((body) => carries(body, issued)),
        [true, false],
        "who carried the reasoning",
      );
      equal(outcome.warnings?.length, 1, "the number of warnings");
    },
  },
  {
    name: "a request without reasoning, or rejected again, is not sent a third time",
    needs: ["signed-reasoning"],
    async run(harness) {
      const { caller, serve, bodies } = harness;
      const next = await thoughtAbout(harness, "model-a");
      serve({ type: "says", status: 400, error: "rejected-reasoning" });
      failedAs(await caller.call(next, patient), "invalid-request");
      equal(bodies.length, 3, "the number of requests");
      failedAs(await caller.call({ ...next, model: "model-b" }, patient), "invalid-request");
      equal(bodies.length, 4, "the number of requests");
    },
  },
];
