import { agentAttachmentSchema, agentMessageSchema, type Immutable } from "@moora/agent-webui-protocol";
import * as z from "zod/mini";
import { scheduleSchema } from "./schedule.ts";
import { agentConfigSchema } from "./config.ts";
import { replaySchema, riskSchema } from "./config-parts.ts";
import { controlSchema } from "./control/control.ts";
import { jsonSchema } from "./json.ts";
import { spendingSchema, usageSchema } from "./usage.ts";

/**
 * The definition of a tool in the state. `schema` is the JSON text of the JSON Schema of its input. `replay` is what may
 * happen after a crash: `safe` and `keyed` run again, `once` (the default) does not. Then its `probe` is asked, or the
 * unknown outcome is reported to the model (`onUnknown: "report"`, the default), or a human is asked. `asksHuman`: a human
 * answers the call.
 */
export const toolDefinitionSchema = z.object({
  description: z.string(),
  schema: z.string(),
  risk: z.exactOptional(riskSchema),
  approval: z.exactOptional(z.enum(["always", "never"])),
  replay: z.exactOptional(replaySchema),
  probe: z.exactOptional(z.boolean()),
  onUnknown: z.exactOptional(z.enum(["report", "ask"])),
  asksHuman: z.exactOptional(z.boolean()),
  /**
   * For a tool that calls models: the most that one call may spend. A kind of spending without an amount is not limited.
   * Under a budget, a call reserves this amount, or the remaining budget if that is less, before it runs.
   */
  spends: z.exactOptional(spendingSchema),
  /** JSON text of the JSON Schema of the human's answer. */
  answerSchema: z.exactOptional(z.string()),
  timeoutMs: z.exactOptional(z.int().check(z.positive())),
  /**
   * How often an attempt that failed with an exception or a timeout is repeated. Only for `safe` and `keyed`; a call of
   * any other tool is not repeated.
   */
  retries: z.exactOptional(z.int().check(z.nonnegative())),
  /** Whether an attempt continues the work of the one before it: interruptions are not counted. Only for `keyed`. */
  resumable: z.exactOptional(z.boolean()),
  maxParallel: z.exactOptional(z.int().check(z.positive())),
  /** The names that the tool had in earlier releases. Calls that were recorded with one of them are calls of this tool. */
  formerNames: z.exactOptional(z.array(z.string())),
  /** Whether the tool converts arguments of earlier releases, so that an open call survives a change of `schema`. */
  upcasts: z.exactOptional(z.boolean()),
});

/** Tools by name. */
export const toolsSchema = z.record(z.string(), toolDefinitionSchema);

/** What the reducer says to the model: the name of a sentence and its arguments. */
const says = z.exactOptional(z.tuple([z.string()], jsonSchema));

/**
 * `code` is stable and for programs, such as `rejected` or `timeout`; `error` is what the tool or a person has said. `failureText` has what
 * the model reads.
 */
export const toolCallResultSchema = z.discriminatedUnion("isSuccess", [
  z.object({
    isSuccess: z.literal(true),
    content: z.string(),
    receivedAt: z.number(),
    files: z.exactOptional(z.array(agentAttachmentSchema)),
  }),
  z.object({
    isSuccess: z.literal(false),
    error: z.string(),
    receivedAt: z.number(),
    code: z.exactOptional(z.string()),
    says,
  }),
]);

/** The codes of failed results that the reducer creates. Runners and tools have further codes. */
export type FailureCode =
  | "blacklisted"
  | "cut"
  | "too-many-calls"
  | "rejected"
  | "no-decision"
  | "expired"
  | "cancelled"
  | "cancelled-after-start"
  | "not-run"
  | "tool-changed"
  | "outcome-unknown"
  | "reported-failed"
  | "crash-loop"
  | "not-handed-over";

/** The codes of results of calls that did not run. */
const notRunCodes: ReadonlySet<string | undefined> = new Set<
  FailureCode | "unknown-tool" | "invalid-arguments"
>([
  "blacklisted",
  "cut",
  "too-many-calls",
  "rejected",
  "no-decision",
  "expired",
  "cancelled",
  "not-run",
  "tool-changed",
  "not-handed-over",
  "unknown-tool",
  "invalid-arguments",
]);

/** Whether a result means that the tool did not run, so that the call had no effect. */
export const hasNotRun = (result: ToolCallResult): boolean =>
  !result.isSuccess && notRunCodes.has(result.code);

/** What was decided about a call, by whom, when and why. */
export const toolCallDecisionSchema = z.object({
  type: z.enum([
    "approved",
    "rejected",
    "modified",
    "answered",
    "run-again",
    "worked",
    "failed",
    "unknown",
    "expired",
  ]),
  by: z.string(),
  decidedAt: z.number(),
  reason: z.exactOptional(z.string()),
});

/**
 * A question that a tool asked in the middle of a call. `state` is what the tool remembers until then, `answerSchema` JSON text
 * of a JSON Schema. `reply` is null while the question is open: the answer, or why there is none.
 */
export const toolQuestionSchema = z.object({
  question: z.string(),
  answerSchema: z.exactOptional(z.string()),
  state: jsonSchema,
  reply: z.nullable(
    z.discriminatedUnion("type", [
      z.object({ type: z.literal("answered"), content: z.string(), by: z.string() }),
      z.object({ type: z.literal("refused"), reason: z.string(), by: z.string() }),
    ]),
  ),
});

/** `parameters` is JSON text, `original` what the model asked for before a human changed it. */
export const toolCallRecordSchema = z.object({
  name: z.string(),
  parameters: z.string(),
  calledAt: z.number(),
  result: z.nullable(toolCallResultSchema),
  digest: z.exactOptional(z.string()),
  needsApproval: z.exactOptional(z.boolean()),
  /** Why the arguments cannot be used, so that the tool is not run. */
  problem: z.exactOptional(z.string()),
  decision: z.exactOptional(toolCallDecisionSchema),
  /** The newest question of the tool in the middle of this call. */
  asked: z.exactOptional(toolQuestionSchema),
  original: z.exactOptional(z.string()),
});

/** A part of a turn, in the order of the model. The record of a `call` contains its name and parameters. */
export const turnPartSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string(), raw: z.exactOptional(jsonSchema) }),
  z.object({ type: z.literal("reasoning"), text: z.string(), raw: jsonSchema }),
  z.object({ type: z.literal("call"), toolCallId: z.string(), raw: z.exactOptional(jsonSchema) }),
  z.object({
    type: z.literal("internal-call"),
    name: z.string(),
    arguments: z.string(),
    answer: z.object({ isError: z.boolean(), content: z.string() }),
    raw: z.exactOptional(jsonSchema),
  }),
  /** A file that the model made. */
  z.object({
    type: z.literal("file"),
    file: agentAttachmentSchema,
    raw: z.exactOptional(jsonSchema),
  }),
  z.object({ type: z.literal("opaque"), raw: jsonSchema }),
]);

/** A turn of the model, as an input contains it. */
export const observedTurnSchema = z.object({
  origin: z.string(),
  parts: z.array(turnPartSchema),
  raw: z.exactOptional(jsonSchema),
});

const withheld = z.exactOptional(z.literal(true));

/** One entry of the transcript. A `summary` hides the turns, notes and summaries of `[since, until)`. */
export const contextEntrySchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal("message"), messageId: z.string(), withheld }),
  z.object({
    type: z.literal("turn"),
    loop: z.number(),
    step: z.number(),
    messageId: z.nullable(z.string()),
    origin: z.string(),
    parts: z.array(turnPartSchema),
    raw: z.exactOptional(jsonSchema),
    withheld,
  }),
  z.object({ type: z.literal("tool-calls"), toolCallIds: z.array(z.string()), withheld }),
  z.object({ type: z.literal("note"), text: z.string(), says, withheld }),
  /** The conversation was handed over. Requests no longer contain the notes and the tool calls before it. */
  z.object({
    type: z.literal("handoff"),
    from: z.string(),
    to: z.string(),
    message: z.exactOptional(z.string()),
    withheld,
  }),
  z.object({
    type: z.literal("summary"),
    text: z.string(),
    since: z.number(),
    until: z.number(),
    withheld,
  }),
]);

/** The working memory of the newest loop. `windowStart` and `seen` are indices of the transcript. */
export const reActContextSchema = z.object({
  contextWindowSize: z.number(),
  /** The tool calls of this loop, and those it loaded from history. */
  toolCallIds: z.array(z.string()),
  loop: z.number(),
  step: z.number(),
  stepLimit: z.number(),
  retryCount: z.number(),
  truncatedCount: z.number(),
  /** The number of summaries that failed in this loop. */
  summariesFailed: z.number(),
  confidence: z.nullable(z.number()),
  usage: usageSchema,
  /** The length of the newest request, in tokens: an estimate until the provider has counted it. */
  inputTokens: z.number(),
  /** The request of this step contains the entries `[windowStart, seen)`; `windowCount` of them are messages and turns. */
  windowStart: z.number(),
  /** Whether the next plan expands the window. */
  widen: z.boolean(),
  windowCount: z.number(),
  seen: z.number(),
  /** The index of the first entry of this loop. */
  loopStart: z.number(),
  /** The entries that arrived during a model call; the next plan moves them to the transcript. */
  queued: z.array(contextEntrySchema),
  /** The number of entries into custom states: in this loop, and since the last plan. */
  entries: z.number(),
  entriesSincePlan: z.number(),
  startedAt: z.number(),
  updatedAt: z.number(),
  /** The reservations of calls that have ended before their tool has, by the key of the usage that is awaited. */
  lateReservations: z.exactOptional(z.array(z.object({ key: z.string(), reserved: spendingSchema }))),
  /** Requests leave out the longer results of the entries before this index. */
  clearedUntil: z.exactOptional(z.number()),
  /** When a summary was wanted last because a request was too long: not twice in a step. */
  summarizedAt: z.exactOptional(z.object({ loop: z.number(), step: z.number() })),
  /**
   * What the provider has counted: the tokens of the last request, how many tokens it counts for one that is estimated, and how many
   * were estimated for the newest request beside those of the last one, 0 if that is not known.
   */
  counted: z.exactOptional(z.object({ tokens: z.number(), ratio: z.number(), added: z.number() })),
  /** The start of the window before a request with its loop alone, null once it is restored, and how many of these were answered. */
  suspect: z.exactOptional(z.object({ windowStart: z.nullable(z.number()), times: z.number() })),
  /** The tools that the model has found, in this order. Requests that have read more than `since` entries offer them. */
  foundTools: z.exactOptional(z.array(z.object({ name: z.string(), since: z.number() }))),
  control: controlSchema,
});

/** The version of the application data, and whether the newest request to the model has shown it as it is. */
export const dataStatusSchema = z.object({ version: z.number(), isShown: z.boolean() });

/** Since when a session is paused, in milliseconds since 1970, and why. */
export const pauseSchema = z.object({ pausedAt: z.number(), reason: z.exactOptional(z.string()) });

/**
 * What requests to a model leave out, because the provider of `origin` has refused them with it: `raw`, what only the origin can read, of the turns
 * before the newest or of all, and the files of the entries `[since, until)`, or of all from `since` on.
 */
export const ladderSchema = z.object({
  model: z.string(),
  origin: z.string(),
  raw: z.exactOptional(z.enum(["earlier", "all"])),
  files: z.exactOptional(z.object({ since: z.number(), until: z.nullable(z.number()) })),
});

/** The schema of a state. */
export const agentStateSchema = z.object({
  version: z.literal(1),
  config: agentConfigSchema,
  messages: z.array(agentMessageSchema),
  tools: toolsSchema,
  toolCalls: z.record(z.string(), toolCallRecordSchema),
  /** The number of tool calls so far, from which the id of the next one is made. */
  toolCallCount: z.number(),
  transcript: z.array(contextEntrySchema),
  reActContext: reActContextSchema,
  /** The owner that opened the session last (null if there has been none), and how often it was opened. */
  owner: z.nullable(z.string()),
  opened: z.number(),
  calledLlmAt: z.number(),
  updatedAt: z.number(),
  usage: usageSchema,
  /** The keys of work that ended without an answer and may still report its usage. */
  unreportedUsage: z.array(z.string()),
  /** The application data, which is JSON; null in a session without data. */
  data: z.custom((value) => value !== undefined),
  /** The version of the data; null in a session without data. */
  dataStatus: z.nullable(dataStatusSchema),
  /** The agent of the team that has the conversation; absent in a session of one agent. */
  activeAgent: z.exactOptional(z.string()),
  /** The pause of the session; null after it was resumed, absent in a session that was never paused. */
  paused: z.exactOptional(z.nullable(pauseSchema)),
  /** One for each model whose provider has refused the content of a request; absent before the first refusal. */
  ladders: z.exactOptional(z.array(ladderSchema)),
  /** The open schedules, and the number of due times so far; absent in a session that never had a schedule. */
  schedules: z.exactOptional(z.object({ count: z.number(), open: z.array(scheduleSchema) })),
});

/** The definition of a tool in the state. `schema` is JSON text. */
export type ToolDefinition = Immutable<z.infer<typeof toolDefinitionSchema>>;
/** The result of a call. `code` is stable and for programs, `error` is what the model reads. */
export type ToolCallResult = Immutable<z.infer<typeof toolCallResultSchema>>;
/** What was decided about a call, by whom, when and why. `expired`: the time for it passed. */
export type ToolCallDecision = Immutable<z.infer<typeof toolCallDecisionSchema>>;
/** A question that a tool asked in the middle of a call, and its reply. */
export type ToolQuestionRecord = Immutable<z.infer<typeof toolQuestionSchema>>;
/** A tool call: its name, its parameters as JSON text, and its result, which is null while the call is open. */
export type ToolCallRecord = Immutable<z.infer<typeof toolCallRecordSchema>>;
/** A part of a turn, in the order of the model. */
export type TurnPart = Immutable<z.infer<typeof turnPartSchema>>;
/** A turn of the model as an input contains it, with what its provider needs to read it again. */
export type ObservedTurn = Immutable<z.infer<typeof observedTurnSchema>>;
/** One entry of the transcript, which requests to the model are made from. */
export type ContextEntry = Immutable<z.infer<typeof contextEntrySchema>>;
/** A turn of the model in the transcript. */
export type TurnEntry = Extract<ContextEntry, { type: "turn" }>;
/** The working memory of the newest loop. */
export type ReActContext = Immutable<z.infer<typeof reActContextSchema>>;
/** What requests to a model leave out after its provider has refused them. */
export type Ladder = Immutable<z.infer<typeof ladderSchema>>;
/** The state of an agent: its conversation, its configuration and its control state. Plain JSON, immutable. */
export type AgentState = Immutable<z.infer<typeof agentStateSchema>>;
