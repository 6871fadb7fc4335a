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
    name: "rejected reasoning is a refusal of the content by its origin, and is sent once",
    needs: ["signed-reasoning"],
    async run(harness) {
      const { caller, serve, bodies } = harness;
      const next = await afterReasoning(harness, "model-a");
      serve({ type: "error-response", status: 400, error: "rejected-reasoning" });
      const { refusedBy } = expectFailure(await caller.call(next, longTimeouts), "invalid-request");
      check(refusedBy?.endsWith("model-a") === true, "The failure must name the origin that refused.");
      equal(bodies.length, 2, "The number of requests");
    },
  },
];
