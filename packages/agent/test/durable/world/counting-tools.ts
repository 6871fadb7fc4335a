import * as z from "zod";
import { defineTool, toolReply, type Tool, type ToolContext } from "../../../src/index.ts";
import type { Counter } from "./counter.ts";
import type { Life } from "./mortal-log.ts";
import { turn } from "./virtual-clock.ts";

/** What the agents of one process live in. */
export interface World {
  readonly counter: Counter;
  readonly life: Life;
  /** The deeds of people that are done: what waits for one of them goes on. */
  readonly deeds: ReadonlySet<string>;
}

/** Waits until a deed is done, or until nobody wants to know any more. */
export async function waitFor(
  deed: string,
  { deeds, life }: Pick<World, "deeds" | "life">,
  signal: AbortSignal | undefined,
): Promise<void> {
  const isOver = (): boolean => deeds.has(deed) || signal?.aborted === true || life.isOver;
  while (!isOver()) await turn();
}

type Definition = Omit<Parameters<typeof defineTool>[0], "input" | "execute" | "description">;

interface Counted<Input> extends Definition {
  readonly input: z.ZodType<Input>;
  /** What it gives, once its trace is left. */
  readonly gives: (args: Input, context: ToolContext) => unknown;
  /** What it waits for before it does anything. */
  readonly waits?: (args: Input, signal: AbortSignal) => Promise<void>;
}

/** A tool that leaves a trace in the world, if its process lives to do so. */
function counted<Input>(
  { counter, life }: World,
  { input, gives, waits, ...definition }: Counted<Input>,
): Tool {
  return defineTool({
    ...definition,
    description: `Does ${definition.name}.`,
    input,
    async execute(args: Input, context: ToolContext) {
      const { idempotencyKey: key, attempt, signal } = context;
      await turn();
      life.check();
      await waits?.(args, signal);
      life.check();
      if (!signal.aborted) counter.ran({ key, tool: definition.name, args: JSON.stringify(args), attempt });
      life.didWork();
      await turn();
      return gives(args, context);
    },
  });
}

const of = z.object({ of: z.number() });
const text = z.object({ text: z.string() });

type Of = z.infer<typeof of>;

/** A tool that is given a number and gives it back. */
const plain = (world: World, definition: Definition): Tool =>
  counted(world, { ...definition, input: of, gives: ({ of: given }) => ({ [definition.name]: given }) });

/** A tool that a human answers; with a schema, the answer has to fit it. */
function humanTool(name: string, answerSchema?: object): Tool {
  const tool = defineTool({ name, description: "Asks a human.", input: of, execute: () => "nobody" });
  return {
    ...tool,
    definition: {
      ...tool.definition,
      asksHuman: true,
      ...(answerSchema === undefined ? {} : { answerSchema: JSON.stringify(answerSchema) }),
    },
  };
}

const rating = {
  type: "object",
  properties: { stars: { type: "integer", minimum: 1, maximum: 5 }, why: { type: "string" } },
  required: ["stars"],
};

/** The tools that run once only: a crash leaves them with an unknown outcome, if they cannot be probed. */
export const once: ReadonlySet<string> = new Set(["send", "send_or_ask", "ship"]);

const failing = ({ of: given }: Of): unknown => toolReply({ content: `no miss of ${given}`, isError: true });

const throwing = ({ of: given }: Of): never => {
  throw new RangeError(`There is no ${given}.`);
};

const picture = ({ of: given }: Of): unknown =>
  toolReply({
    content: `A picture of ${given}.`,
    files: [{ mediaType: "image/png", name: `${given}.png`, url: `https://pictures.example/${given}.png` }],
  });

/** Every tool there is. */
export const toolsOf = (world: World): readonly Tool[] => [
  plain(world, { name: "look", replay: "safe" }),
  plain(world, { name: "pay", replay: "keyed" }),
  plain(world, { name: "send", replay: "once" }),
  plain(world, { name: "send_or_ask", replay: "once", onUnknown: "ask" }),
  plain(world, {
    name: "ship",
    replay: "once",
    probe: (given, { idempotencyKey }) =>
      world.counter.knows(idempotencyKey) ? { output: { ship: of.parse(given).of } } : "not-run",
  }),
  plain(world, { name: "drop", replay: "keyed", risk: "critical" }),
  plain(world, { name: "edit", replay: "keyed", risk: "medium" }),
  plain(world, { name: "sign", replay: "keyed", approval: "always" }),
  plain(world, { name: "single", replay: "safe", maxParallel: 1 }),
  counted(world, { name: "miss", replay: "safe", input: of, gives: failing }),
  counted(world, { name: "throw", replay: "safe", input: of, gives: throwing }),
  counted(world, { name: "nothing", replay: "safe", input: of, gives: () => undefined }),
  counted(world, { name: "picture", replay: "safe", input: of, gives: picture }),
  counted(world, { name: "hidden", replay: "safe", input: of, gives: () => 10n }),
  counted(world, {
    name: "big",
    replay: "safe",
    input: of,
    gives: ({ of: given }) => "0123456789".repeat(given),
  }),
  counted(world, { name: "echo", replay: "safe", input: text, gives: (given) => given.text }),
  counted(world, { name: "task", replay: "keyed", input: text, gives: (given) => `Done: ${given.text}` }),
  counted(world, {
    name: "nested",
    replay: "keyed",
    input: z.record(z.string(), z.json()),
    gives: (given) => given,
  }),
  counted(world, {
    name: "hold",
    replay: "safe",
    input: text,
    waits: (given, signal) => waitFor(given.text, world, signal),
    gives: (given) => `After: ${given.text}`,
  }),
  counted(world, {
    name: "slow",
    replay: "safe",
    timeoutMs: 5_000,
    input: of,
    waits: (_, signal) => waitFor("never", world, signal),
    gives: () => "never",
  }),
  humanTool("ask_human"),
  humanTool("rate", rating),
];
