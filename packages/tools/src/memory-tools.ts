import { createHash } from "node:crypto";
import {
  defineContext,
  defineTool,
  type Clock,
  type ContextDefinition,
  type NeedsContext,
  type Tool,
} from "@moora/agent-core-effects";
import { checkOptions, refuse, withMethods, type OptionForms } from "@moora/agent-core-effects/internal";
import type { Memory, MemoryStore } from "@moora/event-log";
import { textAt } from "./tool-input.ts";

/** Whose memories a session reads and changes. */
export interface MemoryContext {
  /** The id of the user, as the host knows it: not a name that a model or the user may choose. Null: not signed in, without memories. */
  readonly user: string | null;
}

/** The context that sessions with memories need: `openSession(agent, { context: { user: "ada" } })`. */
export const memoryContext: ContextDefinition<MemoryContext> = defineContext<MemoryContext>();

/** A tool whose session needs a user. */
export type MemoryTool = Tool & NeedsContext<MemoryContext>;

/** Options of `memoryTools`. */
export interface MemoryToolsOptions {
  /** `now()` returns milliseconds since 1970. Default: the clock of the machine. */
  readonly clock?: Pick<Clock, "now">;
}

const forms: OptionForms<MemoryToolsOptions> = { clock: withMethods("a clock", "now") };

/** The most memories of one reading, and the characters of their texts together. */
const maxRecalled = 20;
const maxRecalledLength = 8_000;

/**
 * Creates `remember`, `recall` and `forget`: what the agent keeps of a user across sessions. They need the user of the session as their
 * context; no argument of the model names one. A `remember` that runs again after a crash stores once (`replay: "keyed"`). What was
 * recalled is the result of the call, so a replay reads no store. `remember` and `forget` have medium risk, because later sessions read
 * what they leave.
 */
export function memoryTools(store: MemoryStore, options: MemoryToolsOptions = {}): readonly MemoryTool[] {
  checkStore("memoryTools", store);
  checkOptions("memoryTools", options, forms);
  const { clock = Date } = options;
  const remember = defineTool({
    name: "remember",
    description:
      "Stores one fact about the user for later conversations, such as a preference or a plan. " +
      "Store what stays true, in one full sentence; no secrets, and nothing that only this conversation needs.",
    input: inputOf("text", { minLength: 1, maxLength: 2_000, description: "The fact, as a sentence." }),
    context: memoryContext,
    risk: "medium",
    replay: "keyed",
    execute: async (input, { idempotencyKey, context }) => {
      const id = createHash("sha256").update(idempotencyKey).digest("hex").slice(0, 16);
      await store.remember(userOf(context), { id, text: textAt(input, "text"), at: clock.now() });
      return `Remembered as ${id}.`;
    },
  });
  const recall = defineTool({
    name: "recall",
    description: "Finds what earlier conversations have remembered about the user, the best match first.",
    input: inputOf("query", { maxLength: 2_000, description: "What it is about. Empty: the newest facts." }),
    context: memoryContext,
    risk: "low",
    replay: "safe",
    execute: async (input, { context }) => {
      const query = { text: textAt(input, "query"), limit: maxRecalled };
      return { memories: shownMemories(await store.recall(userOf(context), query)) };
    },
  });
  const forget = defineTool({
    name: "forget",
    description: "Removes a remembered fact, because the user asks for it or it is no longer true.",
    input: inputOf("id", { minLength: 1, maxLength: 200, description: "The id, as recall shows it." }),
    context: memoryContext,
    risk: "medium",
    replay: "keyed",
    execute: async (input, { context }) => {
      const id = textAt(input, "id");
      const existed = await store.forget(userOf(context), id);
      return existed ? `Forgot ${id}.` : `No memory has the id ${id} now.`;
    },
  });
  return [remember, recall, forget];
}

function userOf({ user }: MemoryContext): string {
  if (user === null) throw new Error("This session has no user, so nothing can be remembered or recalled.");
  return user;
}

/** The schema of an input with one text. */
const inputOf = (name: string, field: { readonly [rule: string]: string | number }) =>
  ({
    type: "object",
    properties: { [name]: { type: "string", ...field } },
    required: [name],
    additionalProperties: false,
  }) as const;

/** A memory as a model reads it. The day is that of UTC. */
interface ShownMemory {
  readonly id: string;
  readonly text: string;
  readonly day: string;
}

/** Memories as a model reads them, as many as fit. */
export function shownMemories(memories: readonly Memory[]): readonly ShownMemory[] {
  const shown: ShownMemory[] = [];
  let length = 0;
  for (const { id, text, at } of memories.slice(0, maxRecalled)) {
    length += text.length;
    if (length > maxRecalledLength) break;
    shown.push({ id, text, day: new Date(at).toISOString().slice(0, 10) });
  }
  return shown;
}

/** Throws `BuildError` for a value that is not a store: callers without types may pass any. */
export function checkStore(caller: string, store: unknown): void {
  const { expectation, fits } = withMethods("a store of memories", "remember", "recall", "forget");
  if (!fits(store)) refuse(`${caller} needs ${expectation}.`);
}
