import {
  defineAgent,
  defineData,
  defineTool,
  toolReply,
  type Agent,
  type StandardSchema,
  type StateDefinition,
  type Tool,
  type ToolOptions,
} from "@moora/agent";
import type { JsonObject, LlmCaller, LlmCallOptions, LlmOutcome, LlmRequest } from "@moora/llm";
import { answers, callsTools, fails, MockLlmCaller } from "@moora/llm/testing";
import type { HostWorld } from "./world.ts";

/** The first delay before a failed model call is repeated, in milliseconds: short, for hosts whose clock cannot be moved. */
const retryDelayMs = 50;

/** The time after which a question counts as rejected: a week. */
export const questionExpiresAfterMs: number = 7 * 24 * 60 * 60 * 1_000;

/** The most tokens that a session of the agent may use. */
export const maxTotalTokens = 10_000;

const noArguments: JsonObject = { type: "object", properties: {} };

/** A schema without a library: the suite needs none, and its agent changes the data itself. */
const countSchema: StandardSchema<{ count: number }> = {
  "~standard": {
    version: 1,
    vendor: "moora",
    validate: (value) =>
      isCount(value) ? { value } : { issues: [{ message: "must be an object { count }" }] },
  },
};

const isCount = (value: unknown): value is { count: number } =>
  typeof value === "object" && value !== null && "count" in value && typeof value.count === "number";

const jsonSchema: JsonObject = {
  type: "object",
  properties: { count: { type: "number" } },
  required: ["count"],
};

const countData = defineData({ schema: countSchema, initial: { count: 0 }, jsonSchema });

type CountData = typeof countData;

/** The release of the agent that differs in more than its instructions: it forbids what the others allow, and converts their data. */
export const strictRelease = 100;

/** What `convertedData` adds to the count of earlier data. */
export const convertedCount = 100;

/** The data of `strictRelease`. */
const convertedData: CountData = defineData({
  schema: countSchema,
  initial: { count: 0 },
  jsonSchema,
  version: 2,
  migrate: (stored) => ({ count: convertedCount + (isCount(stored) ? stored.count : 0) }),
});

/**
 * The agent of the suite. Its model does what the last message of the user says, from the request alone, so that it continues in
 * the same way in another process: "call read pay" calls these tools at once, "fail" fails at the first call of this process,
 * "spend 900" uses that many tokens, and all other messages are answered with their own words. `release`: which of the
 * releases of the agent this is (default: 1); they differ in their instructions. Release 100 also has another version of the data, to which
 * `migrate` adds 100; there `read` runs `once`, and `write` is not allowed.
 *
 * `read` is `safe`, `write` is `keyed`, `pay` runs `once`, `transfer` needs an approval, and `count` adds 1 to the data with its
 * result, and `claim` before it. `break` fails, which leads to the custom state `Repairing`: its handler is `keyed`, calls `read`, and adds 1 to
 * the data.
 */
export function conformanceAgent(world: HostWorld, release = 1): Agent {
  const isStrict = release === strictRelease;
  const data = isStrict ? convertedData : countData;
  return defineAgent({
    name: "conformance",
    version: String(release),
    systemPrompt: `Release ${release}.`,
    llm: newModel(world),
    tools: [
      newTool(world, { name: "read", replay: isStrict ? "once" : "safe" }),
      newTool(world, { name: "write", replay: "keyed" }),
      newTool(world, { name: "pay", replay: "once" }),
      newTool(world, { name: "transfer", replay: "once", approval: "always" }),
      countTool(world, data),
      claimTool(world, data),
      breakTool(world),
    ],
    states: { Repairing: repairing(world) },
    data,
    config: {
      graph: {
        states: ["Repairing"],
        rows: { Acting: { ToolFailure: "Repairing" }, Repairing: { Repaired: "Planning" } },
        terminals: [],
      },
      retries: { delayMs: retryDelayMs },
      budget: { maxTotalTokens },
      toolCalls: { blacklist: isStrict ? ["write"] : [] },
      approval: { policy: "never", expiresAfterMs: questionExpiresAfterMs },
    },
  });
}

type Definition = Pick<ToolOptions, "name" | "replay" | "approval">;

function newTool(world: HostWorld, definition: Definition): Tool {
  const { name } = definition;
  return defineTool({
    ...definition,
    description: `Does ${name}.`,
    input: noArguments,
    async execute(_, { idempotencyKey, signal }) {
      await work(world, name, idempotencyKey, signal);
      return `${name} is done.`;
    },
  });
}

const countTool = (world: HostWorld, data: CountData): Tool =>
  defineTool({
    name: "count",
    description: "Adds 1 to the count.",
    input: noArguments,
    replay: "safe",
    data,
    async execute(_, { idempotencyKey, signal, update }) {
      await work(world, "count", idempotencyKey, signal);
      update((draft) => {
        draft.count += 1;
      });
      return "count is done.";
    },
  });

/** A tool that does not end on an abort. `aborted`: its host refused its change of the data. */
const claimTool = (world: HostWorld, data: CountData): Tool =>
  defineTool({
    name: "claim",
    description: "Adds 1 to the count at once.",
    input: noArguments,
    replay: "safe",
    data,
    async execute(_, { idempotencyKey: key, update }) {
      await world.reach({ work: "claim", moment: "begin", key });
      const change = update.now((draft) => {
        draft.count += 1;
      });
      if (!(await change.then(isTrue, isFalse))) await world.reach({ work: "claim", moment: "aborted", key });
      await world.reach({ work: "claim", moment: "end", key });
      return "claim is done.";
    },
  });

const breakTool = (world: HostWorld): Tool =>
  defineTool({
    name: "break",
    description: "Fails.",
    input: noArguments,
    replay: "safe",
    async execute(_, { idempotencyKey, signal }) {
      await work(world, "break", idempotencyKey, signal);
      return toolReply({ content: "break has failed.", isError: true });
    },
  });

const repairing = (world: HostWorld): StateDefinition<{ count: number }> => ({
  replay: "keyed",
  async handle(_, { idempotencyKey, signal, callTool, update }) {
    await work(world, "repair", idempotencyKey, signal);
    await callTool("read", {});
    update((draft) => {
      draft.count += 1;
    });
    return "Repaired";
  },
});

const isTrue = (): boolean => true;
const isFalse = (): boolean => false;

/** Begins and ends work in the world. Rejects with the reason of the signal if that aborts it first. */
async function work(world: HostWorld, name: string, key: string, signal: AbortSignal): Promise<void> {
  await Promise.race([world.reach({ work: name, moment: "begin", key }), aborted(signal)]);
  if (signal.aborted) {
    await world.reach({ work: name, moment: "aborted", key });
    signal.throwIfAborted();
  }
  // A process that ends, or a case that is over, receives no more moments.
  const undone = (): void => void world.reach({ work: name, moment: "undone", key }).catch(() => undefined);
  signal.addEventListener("abort", undone, { once: true });
  await world.reach({ work: name, moment: "end", key });
}

/** Resolves when a signal aborts. */
const aborted = (signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted === true) resolve();
    else signal?.addEventListener("abort", () => resolve(), { once: true });
  });

/** The model of the agent. A call is work in the world, like that of a tool. */
function newModel(world: HostWorld): LlmCaller {
  const failed = new Set<string>();
  const script = new MockLlmCaller((request) => outcomeOf(request, failed));
  return {
    name: script.name,
    async call(request: LlmRequest, options: LlmCallOptions = {}) {
      const { idempotencyKey: key = "", signal } = options;
      await Promise.race([world.reach({ work: "model", moment: "begin", key }), aborted(signal)]);
      const outcome = await script.call(request, options);
      if (signal?.aborted !== true) await world.reach({ work: "model", moment: "end", key });
      return outcome;
    },
  };
}

const usage = { inputTokens: 10, outputTokens: 5 };

function outcomeOf(request: LlmRequest, failed: Set<string>): LlmOutcome {
  const { message, isFirstTurn } = taskOf(request);
  const [verb = "", ...words] = message.split(" ");
  switch (isFirstTurn ? verb : "") {
    case "call":
      return callsTools(
        words.map((name) => ({ name })),
        { usage },
      );
    case "fail":
      if (failed.has(message)) return answers(message, { usage });
      failed.add(message);
      return fails("server");
    case "spend":
      return answers(message, { usage: { inputTokens: Number(words[0]), outputTokens: 0 } });
    default:
      return answers(message, { usage });
  }
}

/** The last message of the user, and whether the model has not answered it yet. */
function taskOf({ messages }: LlmRequest): { readonly message: string; readonly isFirstTurn: boolean } {
  const index = messages.findLastIndex(({ role }) => role === "user");
  const last = messages[index];
  const texts = last?.role === "user" ? last.content : [];
  const message = texts.map((part) => (part.type === "text" ? part.text : "")).join("");
  return { message, isFirstTurn: !messages.slice(index + 1).some(({ role }) => role === "assistant") };
}
