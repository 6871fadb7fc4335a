import type { LlmCaller, LlmMessage, LlmPart, LlmRequest } from "@moora/llm";
import { scriptedModel } from "./moora.ts";
import { addOne, type CallCounter, type NamedLoop } from "./script.ts";

type ToolCall = Extract<LlmPart, { type: "tool-call" }>;

/** Saves what happened. Called after the user's message, after each answer of the model and after each tool result. */
export type Save = () => void | Promise<void>;

const saveNothing: Save = () => undefined;

const requestOf = (messages: readonly LlmMessage[]): LlmRequest => ({
  purpose: "plan",
  model: "m",
  system: "",
  messages: [...messages],
  tools: [],
  toolChoice: "auto",
  parallelToolCalls: true,
  settings: {},
});

/** The loop as a program would have it without a library. It keeps its messages, and what `save` keeps. */
export async function handLoop(llm: LlmCaller, counter: CallCounter, save = saveNothing): Promise<void> {
  const runTool = async ({ arguments: text }: ToolCall): Promise<{ isError: boolean; content: string }> => {
    const { a } = JSON.parse(text);
    const result = await Promise.resolve(addOne(counter, a));
    const saved = save();
    if (saved !== undefined) await saved;
    return { isError: false, content: String(result) };
  };

  const messages: LlmMessage[] = [{ role: "user", content: [{ type: "text", text: "Go." }] }];
  await save();
  for (;;) {
    const outcome = await llm.call(requestOf(messages));
    if (!outcome.ok) throw new Error(outcome.failure.message);
    const saved = save();
    if (saved !== undefined) await saved;
    const calls = outcome.turn.parts.filter((part) => part.type === "tool-call");
    const results = await Promise.all(calls.map(runTool));
    messages.push({ role: "assistant", turn: outcome.turn, results });
    if (calls.length === 0) return;
  }
}

/** The floor: the loop written by hand, in memory. */
export const byHand: NamedLoop = {
  name: "by hand",
  implement(script, counter) {
    const llm = scriptedModel(script, counter);
    return () => handLoop(llm, counter);
  },
};
