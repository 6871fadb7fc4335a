import { defineAgent, defineData, defineTool, toolAsks } from "@moora/agent";
import { openai } from "@moora/llm-openai";
import { z } from "zod";
import { demoModel } from "./demo-model.ts";

/** The shopping list that the agent and all windows share. Two items may have the same name. */
const list = defineData({
  schema: z.object({ items: z.array(z.object({ id: z.string(), name: z.string(), isDone: z.boolean() })) }),
  initial: { items: [] },
});

const addItems = defineTool({
  name: "add_items",
  description: "Add items to the shopping list.",
  input: z.object({ names: z.array(z.string()) }),
  data: list,
  execute({ names }, { update }) {
    update(
      (draft) =>
        void draft.items.push(...names.map((name) => ({ id: crypto.randomUUID(), name, isDone: false }))),
    );
    return `Added ${names.join(", ")}.`;
  },
});

const order = defineTool({
  name: "order",
  description: "Order everything on the list that is not done. It costs money.",
  input: z.object({ note: z.optional(z.string()) }),
  data: list,
  approval: "always",
  // The shop recognizes a repeated order by its key, so that a crash in the middle does no harm.
  replay: "keyed",
  async execute(_, { data, update, progress, signal }) {
    const names = data.items.flatMap(({ name, isDone }) => (isDone ? [] : [name]));
    for (const step of ["Calling the shop", "Paying", "Waiting for the receipt"]) {
      progress(`${step} …`);
      await passing(500, signal);
    }
    update((draft) => {
      for (const item of draft.items) item.isDone = true;
    });
    return names.length === 0 ? "Nothing was open." : `Ordered ${names.join(", ")}.`;
  },
});

const slot = z.object({
  day: z.enum(["today", "tomorrow"]),
  isGift: z.boolean(),
  note: z.string().optional(),
});

const deliver = defineTool({
  name: "deliver",
  description: "Arrange the delivery of an order. Asks the user when it shall arrive.",
  input: z.object({}),
  execute(_, { asked }) {
    if (asked === undefined) return toolAsks({ question: "When shall it arrive?", answer: slot });
    if (asked.reply.type === "refused") return "The user did not choose a day. Nothing is arranged.";
    const { day, isGift, note = "none" } = slot.parse(asked.reply.answer);
    return `It arrives ${day}${isGift ? " as a gift" : ""}, note: ${note}.`;
  },
});

const passing = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });

/** A shop assistant. With OPENAI_API_KEY it is a model of OpenAI, otherwise the scripted one. Its page uses its type only. */
export const shopper = defineAgent({
  name: "shopper",
  llm: process.env["OPENAI_API_KEY"] ? openai("gpt-5.5") : demoModel,
  systemPrompt: "You keep a shopping list. Be brief.",
  tools: [addItems, order, deliver],
  data: list,
  config: { showData: "changed" },
});
