import type { LlmCaller, LlmCallOptions, LlmOutcome, LlmRequest } from "@moora/llm";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";

/**
 * A scripted model, so that the example runs without a key: "add milk and bread" adds items, "order" orders them, "deliver" asks for a day, and everything else
 * gets a long answer. It streams word by word, as models do.
 */
export const demoModel: LlmCaller = {
  name: "demo",
  async call(request, options = {}) {
    const outcome = reply(request);
    await streamSlowly(outcome, options);
    // Returns the outcome, or that of a canceled call.
    const { signal } = options;
    return await new MockLlmCaller([outcome]).call(request, signal === undefined ? {} : { signal });
  },
};

function reply({ messages }: LlmRequest): LlmOutcome {
  const last = messages.findLast(({ role }) => role !== "note");
  if (last?.role === "assistant")
    return answers(last.results.map(({ content }) => content).join(" ") || "Done.");
  const text =
    last?.role === "user"
      ? last.content.map((part) => (part.type === "text" ? part.text : "")).join(" ")
      : "";
  const [, names] = /\badd (.+)/i.exec(text) ?? [];
  if (names !== undefined) return addsItems(names.split(/,| and /).flatMap(wordsOf));
  if (/\border\b/i.test(text)) return callsTools([{ name: "order" }]);
  if (/\bdeliver\b/i.test(text)) return callsTools([{ name: "deliver" }]);
  return answers(explanation);
}

/** A turn of a text, a call and a text again. */
function addsItems(names: readonly string[]): LlmOutcome {
  const outcome = callsTools([{ name: "add_items", arguments: { names } }], { text: "I write that down. " });
  if (!outcome.ok) return outcome;
  const { turn } = outcome;
  const tip = { type: "text", text: "Tick off what you have, or add items of your own." } as const;
  return { ...outcome, turn: { ...turn, parts: [...turn.parts, tip] } };
}

function wordsOf(text: string): readonly string[] {
  const word = text.trim().replace(/[.!]$/, "");
  return word === "" ? [] : [word];
}

const explanation =
  "I keep your shopping list. Write “add milk and bread”, and both appear on the list beside this chat, in every window that shows it. " +
  "You can change the list yourself while I work. Write “order” when you are ready: I ask before I spend your money, and the first " +
  "answer counts. Stop the server in the middle of an order and start it again: the order is made once, and this page continues.";

async function streamSlowly(outcome: LlmOutcome, { onChunk, signal }: LlmCallOptions): Promise<void> {
  if (!outcome.ok) return;
  for (const [index, part] of outcome.turn.parts.entries()) {
    if (part.type === "tool-call") onChunk?.({ type: "tool-call", index, name: part.name });
    const text = part.type === "tool-call" ? part.arguments : part.type === "text" ? part.text : "";
    for (const word of text.match(/\S+\s*/g) ?? []) {
      if (signal?.aborted) return;
      onChunk?.({ type: part.type === "tool-call" ? "tool-call-delta" : "text", index, text: word });
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
    onChunk?.({ type: "part-end", index });
  }
}
