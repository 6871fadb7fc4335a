import { answers, callsTools, fails, MockLlmCaller, type ScriptedToolCall } from "@moora/llm/testing";
import type { LlmOutcome, LlmRequest } from "@moora/llm";
import * as z from "zod";
import {
  defineAgent,
  defineTool,
  toolReply,
  type Agent,
  type AgentConfig,
  type Decision,
  type Question,
  type Tool,
  type ToolContext,
} from "../../../src/index.ts";
import type { Counter } from "./counter.ts";
import { Life } from "./mortal-log.ts";
import { turn } from "./virtual-clock.ts";

/** What the agents of one process live in. */
export interface World {
  readonly counter: Counter;
  readonly life: Life;
}

/**
 * A conversation that goes the same way in every process: the model answers by what its request holds, tools count what
 * they do, people decide by what they are asked.
 */
export interface Transcript {
  readonly name: string;
  readonly says: readonly string[];
  readonly agent: (world: World) => Agent;
  readonly decide: (question: Question) => Decision;
  /** Whether some call of it may be left with an unknown outcome by a crash. */
  readonly runsOnce: boolean;
}

const input = z.object({ of: z.number() });

/** A tool that leaves a trace in the world, if its process lives to do so. */
function counted(
  { counter, life }: World,
  name: string,
  replay: "safe" | "keyed" | "once",
  more: { readonly probed?: boolean; readonly onUnknown?: "ask"; readonly fails?: boolean } = {},
): Tool {
  return defineTool({
    name,
    description: `Does ${name}.`,
    input,
    replay,
    ...(more.onUnknown === undefined ? {} : { onUnknown: more.onUnknown }),
    async execute(args, { idempotencyKey: key, attempt }: ToolContext) {
      await turn();
      life.check();
      counter.ran({ key, tool: name, args: JSON.stringify(args), attempt });
      await turn();
      return more.fails === true
        ? toolReply({ content: `no ${name} of ${args.of}`, isError: true })
        : { [name]: args.of };
    },
    ...(more.probed === true
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

/** The model's turns since the user spoke last. */
function turnsIn({ messages }: LlmRequest): number {
  const spoken = messages.findLastIndex((message) => message.role === "user");
  return messages.slice(spoken + 1).filter((message) => message.role === "assistant").length;
}

type Script = readonly (readonly ScriptedToolCall[] | LlmOutcome)[];

/** A model that makes one step of its script for each turn that its request holds, and then answers. */
export const scripted = (script: Script, answer = "That is all that I have found out."): MockLlmCaller =>
  new MockLlmCaller((request) => {
    if (request.purpose === "reflect") return answers("It looked, and found what it looked for.");
    const step = JSON.stringify(request.messages).includes("It looked") ? undefined : script[turnsIn(request)];
    if (step === undefined) return answers(answer, { usage: { inputTokens: 10, outputTokens: 5 } });
    return "ok" in step ? step : callsTools(step, { usage: { inputTokens: 7, outputTokens: 3 } });
  });

export const call = (name: string, of = 1): ScriptedToolCall => ({ name, arguments: { of } });

function transcript(
  name: string,
  script: Script,
  {
    says = ["Please."],
    decide = () => "approve",
    runsOnce = script.flat().some((step) => "name" in step && step.name.startsWith("send")),
    llm = () => scripted(script),
    ...config
  }: Partial<AgentConfig> &
    Partial<Pick<Transcript, "says" | "decide" | "runsOnce">> & {
      readonly llm?: () => MockLlmCaller;
    } = {},
): Transcript {
  return {
    name,
    says,
    decide,
    runsOnce,
    agent: (world) =>
      defineAgent({
        name: "transcript",
        llm: llm(),
        tools: [
          counted(world, "look", "safe"),
          counted(world, "pay", "keyed"),
          counted(world, "send", "once"),
          counted(world, "send_or_ask", "once", { onUnknown: "ask" }),
          counted(world, "ship", "once", { probed: true }),
          counted(world, "miss", "safe", { fails: true }),
          humanTool("ask_human"),
        ],
        config,
        states: config.graph === undefined ? {} : { Check: () => ({ event: "Fine", note: "It was checked." }) },
      }),
  };
}

const asks = (...tools: readonly string[]): Pick<AgentConfig, "approval"> => ({
  approval: { policy: { tools } },
});

export const transcripts: readonly Transcript[] = [
  transcript("an answer", []),
  transcript("two answers", [], { says: ["First.", "Second."] }),
  transcript("one keyed call", [[call("pay")]]),
  transcript("one call that runs once", [[call("send")]]),
  transcript("a call that runs once, and a human settles", [[call("send_or_ask")]], {
    decide: ({ about }) => (about === "outcome" ? { reject: "Leave it." } : "approve"),
  }),
  transcript("a call that can be probed", [[call("ship")]]),
  transcript("two steps", [[call("look"), call("pay")], [call("pay", 2)]]),
  transcript("three parallel calls", [[call("look"), call("pay"), call("send")]]),
  transcript("eight parallel calls", [Array.from({ length: 8 }, (_, index) => call("pay", index))]),
  transcript("one call at a time", [[call("look"), call("pay"), call("ship")]], { parallelTools: false }),
  transcript("an approval", [[call("pay")]], asks("pay")),
  transcript("a rejection", [[call("pay")]], { ...asks("pay"), decide: () => ({ reject: "No." }) }),
  transcript("a change", [[call("pay")]], { ...asks("pay"), decide: () => ({ approve: { of: 7 } }) }),
  transcript("three parallel calls with two approvals", [[call("look"), call("pay"), call("ship")]], {
    ...asks("pay", "ship"),
    decide: ({ name }) => (name === "pay" ? "approve" : { reject: "Not this." }),
  }),
  transcript("a question to a human", [[call("ask_human")]], { decide: () => ({ answer: "Forty-two." }) }),
  transcript("a failing tool", [[call("miss"), call("look")]]),
  transcript("calls that cannot be made", [
    [{ name: "look", arguments: '{"of":' }, { name: "nothing", arguments: {} }, call("pay")],
  ]),
  transcript("a reflection", [[call("look"), call("pay")]], { reflectEveryNSteps: 1 }),
  transcript("a state of its own", [[call("look")]], {
    graph: { states: ["Check"], rows: { Observing: { Continue: "Check" }, Check: { Fine: "Planning" } }, terminals: [] },
  }),
  transcript("a model that has to be asked again", [[call("look")]], {
    llm: () => {
      const steps = scripted([[call("look")]]);
      let isBusy = true;
      return new MockLlmCaller((request) => {
        if (!isBusy) return steps.callSync(request);
        isBusy = false;
        return fails("rate-limit", { retryAfterMs: 2_000 });
      });
    },
  }),
  transcript("a limit of steps", [[call("look")], [call("look", 2)], [call("look", 3)]], { maxSteps: 2 }),
  transcript("low confidence", [answers("Perhaps.", { confidence: 0.1 })], { maxRetries: 1 }),
];

export const transcriptOf = (name: string): Transcript => {
  const found = transcripts.find((transcript) => transcript.name === name);
  if (found === undefined) throw new Error(`There is no transcript "${name}".`);
  return found;
};
