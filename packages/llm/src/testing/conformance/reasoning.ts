import type { LlmRequest } from "../../request.ts";
import { check, equal, expectFailure, expectSuccess } from "./check.ts";
import type { ConformanceCase, LlmHarness, ScriptedAnswer } from "./harness.ts";
import { turnWithResults, requestWithTools, longTimeouts, text, userMessage } from "./requests.ts";

const thinking: ScriptedAnswer = {
  reasoning: "I must add.",
  ...text("Let me see."),
  calls: [{ name: "add", arguments: ["{}"] }],
};

/** The second request of a conversation whose first turn contains reasoning. */
async function afterReasoning({ caller, serve }: LlmHarness, model: string): Promise<LlmRequest> {
  serve({ type: "answer", answer: thinking }, { type: "answer", answer: text("3") });
  const first = requestWithTools({ model });
  const { turn } = expectSuccess(await caller.call(first, longTimeouts));
  return { ...first, messages: [...first.messages, turnWithResults(turn, "3"), userMessage("And then?")] };
}

const carries = (body: string | undefined, issued: readonly string[]): boolean =>
  issued.length > 0 && issued.every((token) => body?.includes(JSON.stringify(token)));

/** Signed or encrypted reasoning. */
export const reasoningCases: readonly ConformanceCase[] = [
  {
    name: "reasoning is sent back unchanged to its origin, and to no other model",
    needs: ["signed-reasoning"],
    async run(harness) {
      const { caller, bodies, issued } = harness;
      const next = await afterReasoning(harness, "model-a");
      for (const model of ["model-a", "model-b", "model-a"]) {
        expectSuccess(await caller.call({ ...next, model }, longTimeouts));
        const wanted = model === "model-a";
        equal(
          carries(bodies.at(-1), issued),
          wanted,
          `Whether the request to ${model} contains the reasoning`,
        );
        check(
          wanted || bodies.at(-1)?.includes("I must add.") === false,
          `The request to ${model} must not contain the reasoning.`,
        );
      }
    },
  },
  {
    name: "reasoning at the end of a turn is not sent",
    needs: ["signed-reasoning"],
    async run(harness) {
      const { caller, bodies, issued } = harness;
      const next = await afterReasoning(harness, "model-a");
      const messages = next.messages.map((message) =>
        message.role === "assistant"
          ? { ...message, turn: { ...message.turn, parts: message.turn.parts.slice(0, 1) }, results: [] }
          : message,
      );
      expectSuccess(await caller.call({ ...next, messages }, longTimeouts));
      check(!carries(bodies.at(-1), issued), "The request must not contain reasoning at the end of a turn.");
    },
  },
  {
    name: "rejected reasoning is left out of a second request, with a warning",
    needs: ["signed-reasoning"],
    async run(harness) {
      const { caller, serve, bodies, issued } = harness;
      const next = await afterReasoning(harness, "model-a");
      serve(
        { type: "error-response", status: 400, error: "rejected-reasoning" },
        { type: "answer", answer: text("3") },
      );
      const outcome = expectSuccess(await caller.call(next, longTimeouts));
      equal(bodies.length, 3, "The number of requests");
      equal(
        bodies.slice(1).map((body) => carries(body, issued)),
        [true, false],
        "Which requests contain the reasoning",
      );
      equal(outcome.warnings?.length, 1, "The number of warnings");
    },
  },
  {
    name: "a request without reasoning, or rejected again, is not sent a third time",
    needs: ["signed-reasoning"],
    async run(harness) {
      const { caller, serve, bodies } = harness;
      const next = await afterReasoning(harness, "model-a");
      serve({ type: "error-response", status: 400, error: "rejected-reasoning" });
      expectFailure(await caller.call(next, longTimeouts), "invalid-request");
      equal(bodies.length, 3, "The number of requests");
      expectFailure(await caller.call({ ...next, model: "model-b" }, longTimeouts), "invalid-request");
      equal(bodies.length, 4, "The number of requests");
    },
  },
];
