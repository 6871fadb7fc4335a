import { answers, callsTools, MockLlmCaller, type ScriptedToolCall } from "@moora/llm/testing";
import type { LlmCaller, LlmOutcome, LlmRequest } from "@moora/llm";
import * as z from "zod";
import {
  defineAgent,
  defineTool,
  toolReply,
  type Agent,
  type AgentConfig,
  type Tool,
  type ToolContext,
} from "../../../src/index.ts";
import type { Counter } from "./counter.ts";
import type { Life } from "./mortal-log.ts";
import { turn } from "./virtual-clock.ts";

/** What the agents of one process live in. */
export interface World {
  readonly counter: Counter;
  readonly life: Life;
}

const input = z.object({ of: z.number() });

interface Manner {
  readonly probed?: boolean;
  readonly onUnknown?: "ask";
  readonly fails?: boolean;
}

/** A tool that leaves a trace in the world, if its process lives to do so. */
function counted(
  { counter, life }: World,
  name: string,
  replay: "safe" | "keyed" | "once",
  { probed = false, onUnknown, fails = false }: Manner = {},
): Tool {
  return defineTool({
    name,
    description: `Does ${name}.`,
    input,
    replay,
    ...(onUnknown === undefined ? {} : { onUnknown }),
    async execute(args, { idempotencyKey: key, attempt }: ToolContext) {
      await turn();
      life.check();
      counter.ran({ key, tool: name, args: JSON.stringify(args), attempt });
      await turn();
      return fails ? toolReply({ content: `no ${name} of ${args.of}`, isError: true }) : { [name]: args.of };
    },
    ...(probed
      ? {
          probe: ({ of }: { of: number }, { idempotencyKey }: ToolContext) =>
            counter.knows(idempotencyKey) ? { output: { [name]: of } } : "not-run",
        }
      : {}),
  });
}

/** A tool that a human answers. */
const humanTool = (name: string): Tool => {
  const tool = defineTool({ name, description: "Asks a human.", input, execute: () => "nobody" });
  return { ...tool, definition: { ...tool.definition, asksHuman: true } };
};

/** The tools that run once only: a crash leaves them with an unknown outcome, if they cannot be probed. */
export const once: ReadonlySet<string> = new Set(["send", "send_or_ask", "ship"]);

const toolsOf = (world: World): readonly Tool[] => [
  counted(world, "look", "safe"),
  counted(world, "pay", "keyed"),
  counted(world, "send", "once"),
  counted(world, "send_or_ask", "once", { onUnknown: "ask" }),
  counted(world, "ship", "once", { probed: true }),
  counted(world, "miss", "safe", { fails: true }),
  humanTool("ask_human"),
];

/** What a model does: calls, or an outcome, for each of its turns since the user spoke; after that it answers. */
export type Script = readonly (readonly ScriptedToolCall[] | LlmOutcome)[];

export const call = (name: string, of = 1): ScriptedToolCall => ({ name, arguments: { of } });

const summary = "It looked, and found what it looked for.";

/** A model that knows where it is from its request alone, so that it goes on the same in another process. */
export const scripted = (script: Script): MockLlmCaller =>
  new MockLlmCaller((request) => {
    if (request.purpose === "reflect") return answers(summary);
    const isSummed = JSON.stringify(request.messages).includes(summary);
    const step = isSummed ? undefined : script[turnsIn(request)];
    if (step === undefined)
      return answers("That is all that I have found out.", { usage: { inputTokens: 10, outputTokens: 5 } });
    return "ok" in step ? step : callsTools(step, { usage: { inputTokens: 7, outputTokens: 3 } });
  });

/** The model's turns since the user spoke last. */
function turnsIn({ messages }: LlmRequest): number {
  const spoken = messages.findLastIndex((message) => message.role === "user");
  return messages.slice(spoken + 1).filter((message) => message.role === "assistant").length;
}

/** An agent whose tools count what they do. */
export const countingAgent = (world: World, llm: LlmCaller, config: Partial<AgentConfig> = {}): Agent =>
  defineAgent({
    name: "counting",
    llm,
    tools: toolsOf(world),
    config,
    states: config.graph === undefined ? {} : { Check: () => ({ event: "Fine", note: "It was checked." }) },
  });
