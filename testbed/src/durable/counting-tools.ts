import * as z from "zod";
import { defineTool, toolAsks, toolReply, type Tool, type ToolContext } from "@moora/agent";
import type { Counter } from "./counter.ts";
import { tally } from "./tally.ts";
import type { Life } from "./mortal-log.ts";
import { turn } from "../test-clock.ts";

/** What the agents of one process live in. */
export interface World {
  readonly counter: Counter;
  readonly life: Life;
  /** The deeds of people that are done: what waits for one of them continues. */
  readonly deeds: ReadonlySet<string>;
}

/** Waits until a deed is done, or until the wait is canceled. */
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
  readonly waits?: (args: Input, context: ToolContext) => Promise<void>;
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
      await waits?.(args, context);
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
  const tool = defineTool({ name, description: "Asks a human.", input: of, execute: () => "not asked" });
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

const digits = ({ of: given }: Of): unknown => "0123456789".repeat(given);

const picture = ({ of: given }: Of): unknown =>
  toolReply({
    content: `A picture of ${given}.`,
    files: [{ mediaType: "image/png", name: `${given}.png`, url: `https://pictures.example/${given}.png` }],
  });

/** A tool that puts its number on the tally, under the id of its call. */
function putting({ counter, life }: World, name: string): Tool {
  return defineTool({
    name,
    description: "Puts a number on the tally.",
    input: of,
    replay: "keyed",
    data: tally,
    async execute(args, { idempotencyKey: key, attempt, toolCallId, update }) {
      await turn();
      life.check();
      const { total } = update((draft) => {
        draft.items[toolCallId] = args.of;
        draft.total += args.of;
      });
      counter.ran({ key, tool: name, args: JSON.stringify(args), attempt });
      life.didWork();
      await turn();
      return { put: args.of, isMore: total > 0 };
    },
  });
}

/** A tool that names its call on the tally at once, and puts its number there with its result. */
function announcing({ counter, life }: World, name: string): Tool {
  return defineTool({
    name,
    description: "Announces a number, and puts it on the tally.",
    input: of,
    replay: "keyed",
    data: tally,
    async execute(args, { idempotencyKey: key, attempt, toolCallId, update }) {
      await turn();
      life.check();
      await update.now((draft) => {
        draft.items[toolCallId] ??= 0;
      });
      life.check();
      update((draft) => {
        draft.items[toolCallId] = args.of;
        draft.total += args.of;
      });
      counter.ran({ key, tool: name, args: JSON.stringify(args), attempt });
      life.didWork();
      await turn();
      return { announced: args.of };
    },
  });
}

/** A tool that fails the first time that it runs for a call, in whichever process. */
const failingOnce = (world: World, name: string): Tool => {
  const failed = new Set<string>();
  return counted(world, {
    name,
    replay: "safe",
    retries: 2,
    input: of,
    waits: (_, { idempotencyKey: key }) => {
      if (!world.counter.knows(key)) failed.add(key);
      return Promise.resolve();
    },
    gives: ({ of: given }, { idempotencyKey: key }) => {
      if (failed.delete(key)) throw new Error("The connection was reset.");
      return { [name]: given };
    },
  });
};

const howMany = z.object({ count: z.number() });

/** A tool that asks a person how many, and gives the answer back with what it had kept. */
const wondering = (world: World, name: string): Tool =>
  counted(world, {
    name,
    replay: "keyed",
    input: of,
    gives: ({ of: given }, { asked }) => {
      const question = { question: `How many of ${given}?`, answer: howMany, state: { of: given } };
      if (asked === undefined) return toolAsks(question);
      return { kept: asked.state, reply: asked.reply };
    },
  });

/** How every tool is made that there is, by its name. */
const makers: Readonly<Record<string, (world: World, name: string) => Tool>> = {
  look: (world, name) => plain(world, { name, replay: "safe" }),
  pay: (world, name) => plain(world, { name, replay: "keyed" }),
  send: (world, name) => plain(world, { name, replay: "once" }),
  send_or_ask: (world, name) => plain(world, { name, replay: "once", onUnknown: "ask" }),
  ship: (world, name) =>
    plain(world, {
      name,
      replay: "once",
      probe: (given, { idempotencyKey }) =>
        world.counter.knows(idempotencyKey) ? { output: { ship: of.parse(given).of } } : "not-run",
    }),
  drop: (world, name) => plain(world, { name, replay: "keyed", risk: "critical" }),
  edit: (world, name) => plain(world, { name, replay: "keyed", risk: "medium" }),
  sign: (world, name) => plain(world, { name, replay: "keyed", approval: "always" }),
  single: (world, name) => plain(world, { name, replay: "safe", maxParallel: 1 }),
  put: (world, name) => putting(world, name),
  announce: (world, name) => announcing(world, name),
  flaky: (world, name) => failingOnce(world, name),
  wonder: (world, name) => wondering(world, name),
  miss: (world, name) => counted(world, { name, replay: "safe", input: of, gives: failing }),
  throw: (world, name) => counted(world, { name, replay: "safe", input: of, gives: throwing }),
  nothing: (world, name) => counted(world, { name, replay: "safe", input: of, gives: () => undefined }),
  picture: (world, name) => counted(world, { name, replay: "safe", input: of, gives: picture }),
  hidden: (world, name) => counted(world, { name, replay: "safe", input: of, gives: () => 10n }),
  big: (world, name) => counted(world, { name, replay: "safe", input: of, gives: digits }),
  echo: (world, name) => counted(world, { name, replay: "safe", input: text, gives: (given) => given.text }),
  task: (world, name) =>
    counted(world, { name, replay: "keyed", input: text, gives: (given) => `Done: ${given.text}` }),
  nested: (world, name) =>
    counted(world, { name, replay: "keyed", input: z.record(z.string(), z.json()), gives: (given) => given }),
  hold: (world, name) =>
    counted(world, {
      name,
      replay: "safe",
      input: text,
      waits: (given, { signal }) => waitFor(given.text, world, signal),
      gives: (given) => `After: ${given.text}`,
    }),
  slow: (world, name) =>
    counted(world, {
      name,
      replay: "safe",
      timeoutMs: 5_000,
      input: of,
      waits: (_, { signal }) => waitFor("never", world, signal),
      gives: () => "never",
    }),
  ask_human: (_, name) => humanTool(name),
  rate: (_, name) => humanTool(name, rating),
};

/** The tools of these names; of no names, all that there are. */
export const toolsOf = (world: World, names?: readonly string[]): readonly Tool[] =>
  Object.entries(makers)
    .filter(([name]) => names === undefined || names.includes(name))
    .map(([name, make]) => make(world, name));
