import type { AgentInput, DurableSession, Json } from "@moora/agent";
import { applyPatches } from "@moora/agent/internal";
import { callsMessageId, resultMessageId, textMessageId } from "./ag-ui-ids.ts";

/** Application data, with the version of its schema. */
export interface VersionedData {
  readonly data: Json;
  readonly version: number;
}

/**
 * What the application data was since a client has seen it, in order: it has certainly seen the first one, and maybe a later
 * one. `messageIds` are those of the messages that the client has. A message of the model shows that the client has seen the data
 * from before it, a result that of its call. A client without either is taken to have seen the initial data. Empty for a session
 * without data.
 */
export async function dataSince(
  { header, history }: Pick<DurableSession<unknown>, "header" | "history">,
  messageIds: ReadonlySet<string>,
): Promise<readonly VersionedData[]> {
  const { data: created } = header;
  let found: VersionedData[] =
    created === undefined ? [] : [{ data: created.initial, version: created.version }];
  /** The data when the newest call of the model began. */
  let atCall: VersionedData | undefined;
  for (const { input } of await history()) {
    const before = found.at(-1);
    const now = dataAfter(before, input);
    if (now !== undefined && now !== before) found.push(now);
    if (input.type === "llm-call-started") atCall = now;
    if (!shownBy(input).some((id) => messageIds.has(id))) continue;
    const seen = input.type === "re-act-observed" ? atCall : now;
    const index = seen === undefined ? -1 : found.indexOf(seen);
    if (index > 0) found = found.slice(index);
  }
  return found;
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
