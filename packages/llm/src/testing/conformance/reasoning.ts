import type { LlmRequest } from "../../request.ts";
import { requestWithTools, text, turnWithResults, userMessage } from "./requests.ts";
import { check, equal, rules, type ConformanceCase, type Scene } from "./scene.ts";

/** The second request of a conversation whose first turn contains reasoning. */
async function afterReasoning(at: Scene): Promise<LlmRequest> {
  const first = requestWithTools({ model: "model-a" });
  const calls = [{ name: "add", arguments: ["{}"] }];
  const { turn } = await at.answer({ reasoning: "I must add.", ...text("Let me see."), calls }, first);
  return { ...first, messages: [...first.messages, turnWithResults(turn, "3"), userMessage("And then?")] };
}

/** Whether the newest request contains what the server has signed. */
const carriesTokens = ({ harness: { issued }, body }: Scene): boolean =>
  issued.length > 0 && issued.every((token) => body.includes(JSON.stringify(token)));

/** Signed or encrypted reasoning. */
export const reasoningCases: readonly ConformanceCase[] = rules(["signed-reasoning"], {
  "reasoning is sent back unchanged to its origin, and to no other model": async (at) => {
    const next = await afterReasoning(at);
    for (const model of ["model-a", "model-b", "model-a"]) {
      await at.answer(text("3"), { ...next, model });
      const isOwn = model === "model-a";
      equal(carriesTokens(at), isOwn, `Whether the request to ${model} contains the reasoning`);
      const isRight = isOwn || !at.body.includes("I must add.");
      check(isRight, `The request to ${model} must not contain the reasoning.`);
    }
  },
  "reasoning at the end of a turn is not sent": async (at) => {
    const next = await afterReasoning(at);
    const messages = next.messages.map((message) =>
      message.role === "assistant"
        ? { ...message, turn: { ...message.turn, parts: message.turn.parts.slice(0, 1) }, results: [] }
        : message,
    );
    await at.answer(text("3"), { ...next, messages });
    check(!carriesTokens(at), "The request must not contain reasoning at the end of a turn.");
  },
  "rejected reasoning is a refusal of the content by its origin, and is sent once": async (at) => {
    const next = await afterReasoning(at);
    const rejected = { type: "error-response", status: 400, error: "rejected-reasoning" } as const;
    const { refusedBy = "" } = await at.failure("invalid-request", rejected, next);
    check(refusedBy.endsWith("model-a"), "The failure must name the origin that refused.");
    equal(at.harness.bodies.length, 2, "The number of requests");
  },
});
