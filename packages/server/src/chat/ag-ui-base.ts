import type { AgentInput, DurableSession, Json } from "@moora/agent";
import { applyPatches } from "@moora/agent/internal";
import type { PostedState } from "./ag-ui-request.ts";
import { callsMessageId, resultMessageId, textMessageId } from "./ag-ui-ids.ts";

/** Application data, with the version of its schema. */
export interface VersionedData {
  readonly data: Json;
  readonly version: number;
}

/** What the application data was while a client may have seen it. */
export interface SeenData {
  /**
   * What it was since the client has seen it, in order: the client has certainly seen the first one, and maybe a later one. Empty for a
   * session without data.
   */
  readonly versions: readonly VersionedData[];
  /** What it was at the end of the run in which the client got its newest message, if it seems to have the whole run. */
  readonly atEnd: VersionedData | undefined;
}

type SessionReader = Pick<DurableSession<unknown>, "header" | "history" | "current">;

/**
 * Finds what a client has seen of the application data. A message of the model shows that the client has seen the data from before
 * it, a result that of its call. A client without either is taken to have seen the initial data. The last message of a run with its
 * whole text, and a resumption after interrupts, show that the client seems to have the whole run.
 */
export async function seenData(
  { header, history, current }: SessionReader,
  { messages, isResumed }: Pick<PostedState, "messages" | "isResumed">,
): Promise<SeenData> {
  const { data: created } = header;
  const answers = new Map(current().messages.map(({ id, content }) => [id, content]));
  let versions: VersionedData[] =
    created === undefined ? [] : [{ data: created.initial, version: created.version }];
  let atEnd: VersionedData | undefined;
  /** Whether the records continue the run in which the client got its newest message. */
  let isSeen = false;
  /** The data when the newest call of the model began. */
  let atCall: VersionedData | undefined;
  for (const { input } of await history()) {
    const before = versions.at(-1);
    const now = dataAfter(before, input);
    if (now !== undefined && now !== before) versions.push(now);
    if (input.type === "llm-call-started") atCall = now;
    if (endsRun(input) || (isResumed && input.type === "deadline-passed")) isSeen = false;
    const answerId = answerIdOf(input);
    if (answerId !== undefined && messages.has(answerId))
      isSeen = messages.get(answerId) === answers.get(answerId);
    if (shownBy(input).some((id) => messages.has(id))) {
      const seen = input.type === "re-act-observed" ? atCall : now;
      const index = seen === undefined ? -1 : versions.indexOf(seen);
      if (index > 0) versions = versions.slice(index);
      isSeen = isResumed;
      atEnd = undefined;
    }
    if (isSeen && isWork(input)) atEnd = now;
  }
  return { versions, atEnd };
}

function dataAfter(before: VersionedData | undefined, input: AgentInput): VersionedData | undefined {
  if (!("patches" in input) || input.patches === undefined) return before;
  const data = applyPatches(before?.data ?? null, input.patches);
  const version = ("version" in input ? input.version : undefined) ?? before?.version;
  return data === undefined || version === undefined ? before : { data, version };
}

/** The ids of the messages that a client gets after an input. Those of users show only that they were sent. */
function shownBy(input: AgentInput): readonly string[] {
  if (input.type === "llm-call-started") {
    const id = textMessageId(input.key);
    return id === undefined ? [] : [id];
  }
  if (input.type === "tool-call-completed" || input.type === "tool-call-decided")
    return [resultMessageId(input.toolCallId)];
  if (input.type !== "re-act-observed" || input.observation.type !== "continue-re-act") return [];
  return Object.keys(input.observation.toolCalls).map(callsMessageId);
}

/** The id of the message that ends a run with its text; undefined for any other input. */
const answerIdOf = (input: AgentInput): string | undefined =>
  input.type === "re-act-observed" && input.key !== undefined && input.observation.type === "complete-re-act"
    ? textMessageId(input.key)
    : undefined;

/** Whether an input begins another run: the run before it had ended. */
const endsRun = ({ type }: AgentInput): boolean =>
  type === "user-message-received" || type === "tool-call-decided" || type === "loop-retried";

/** Inputs that others may post, also after the end of a run. */
const postedTypes: ReadonlySet<AgentInput["type"]> = new Set([
  "user-message-received",
  "tool-call-decided",
  "re-act-cancelled",
  "session-paused",
  "session-resumed",
  "loop-retried",
  "session-opened",
  "agent-configured",
  "context-note-added",
  "snapshot-taken",
  "usage-reported",
]);

/** Whether an input is a part of the work of a run. */
const isWork = (input: AgentInput): boolean =>
  input.type === "data-changed"
    ? input.toolCallId !== undefined || input.key !== undefined
    : !postedTypes.has(input.type);
