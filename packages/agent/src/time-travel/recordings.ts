import type { Tool, ToolContext, ToolOutcome } from "@moora/agent-core-effects";
import { refusalOfTool } from "@moora/agent-core-effects/internal";
import {
  failureText,
  hasNotRun,
  type AgentInput,
  type AgentState,
  type ToolCallRecord,
} from "@moora/agent-core-state-machine";
import { recordOf, toolNameOf } from "@moora/agent-core-state-machine/internal";
import type { Decision } from "../agent-event.ts";
import { canonicalJson } from "../durable/canonical-json.ts";
import { ChangeOrder, repeatChanges, type WithUpdates } from "./change-order.ts";
import { changesOfCalls, type CallChange } from "./recorded-data.ts";

/** The recorded decision on a call and its reviewer. */
export interface RecordedDecision {
  readonly decision: Decision;
  readonly by: string;
}

/** The results and decisions of a recorded session, by tool and arguments. Each is used once, in order. */
export interface Recordings {
  /** A replacement of the tool that returns the recorded results without running it. */
  withRecordedResults(tool: Tool): Tool;
  /** The next recorded decision on a call of the tool with these arguments; undefined if there is none. */
  decisionOn(name: string, parameters: unknown): RecordedDecision | undefined;
  /** The order in which the calls change the application data. */
  readonly order: ChangeOrder;
  /** The number of calls without a recorded result. */
  readonly missing: number;
  /** The number of calls with a change of application data that does not fit the data of the rerun. */
  readonly droppedUpdates: number;
}

/** The recorded result of a call, and what the call did to the application data. */
interface RecordedOutcome {
  readonly outcome: ToolOutcome;
  readonly changes: readonly CallChange[];
}

/** A recorded session: its final state, its state after `seq` records, where the rerun starts, and its inputs. */
export interface RecordedRun {
  readonly whole: AgentState;
  readonly start: AgentState;
  readonly seq: number;
  readonly inputs: readonly AgentInput[];
  /** The tools of the agent of the rerun, with the former names of each. */
  readonly tools: AgentState["tools"];
}

/**
 * Collects the results and decisions of a session. Those of calls that are already settled in `start` come last, because
 * they are needed only if such a call is made again.
 */
export function recordingsOf(
  { whole, start, seq, inputs, tools }: RecordedRun,
  unrecorded: "fail" | "run",
): Recordings {
  const outcomes = new RecordedQueue<RecordedOutcome>();
  const decisions = new RecordedQueue<RecordedDecision>();
  const currentName = (name: string): string => toolNameOf({ tools }, name);
  const changesOf = changesOfCalls(inputs, start, seq);
  const order = new ChangeOrder();
  let missing = 0;
  let droppedUpdates = 0;
  const isSettled = ([id]: readonly [string, ToolCallRecord]): boolean =>
    (recordOf(start, id)?.result ?? null) !== null;
  const all = Object.entries(whole.toolCalls);
  for (const [id, record] of [...all.filter((call) => !isSettled(call)), ...all.filter(isSettled)]) {
    const { parameters, original = parameters } = record;
    const name = currentName(record.name);
    const outcome = outcomeOf(record);
    const changes = changesOf.get(id) ?? [];
    if (outcome !== undefined) outcomes.put(keyOf(name, parsed(parameters)), { outcome, changes });
    const decision = decisionOf(record);
    if (decision !== undefined) decisions.put(keyOf(name, parsed(original)), decision);
  }
  const repeat = async (
    { outcome, changes }: RecordedOutcome,
    context: WithUpdates,
  ): Promise<ToolOutcome> => {
    if (!(await repeatChanges(changes, order, context))) droppedUpdates += 1;
    return outcome;
  };
  return {
    order,
    withRecordedResults: (tool) => ({
      ...tool,
      // What returns a recorded result may run twice, so it may commit changes early.
      definition: { ...tool.definition, replay: "safe" },
      run(parameters, context) {
        const known = outcomes.take(keyOf(tool.name, parsed(parameters)));
        if (known !== undefined) return known.changes.length === 0 ? known.outcome : repeat(known, context);
        missing += 1;
        if (unrecorded === "run") {
          order.leaveOut(context.toolCallId);
          return tool.run(parameters, withEarlyCommitsOf(tool, context));
        }
        return {
          isSuccess: false,
          error: "The recorded session does not contain this call.",
          code: "not-recorded",
        };
      },
    }),
    decisionOn: (name, parameters) => decisions.take(keyOf(currentName(name), parameters)),
    get missing() {
      return missing;
    },
    get droppedUpdates() {
      return droppedUpdates;
    },
  };
}

/** The context for the tool itself, which may commit changes early only if it may run twice. */
function withEarlyCommitsOf(tool: Tool, context: WithUpdates): ToolContext {
  const refusal = refusalOfTool(tool);
  if (context.update !== undefined && refusal !== undefined)
    Object.assign(context.update, { now: () => refusal([]) });
  return context;
}

/** Values by key. Each is taken once, in order. */
class RecordedQueue<Value> {
  readonly #values = new Map<string, Value[]>();

  put(key: string, value: Value): void {
    const values = this.#values.get(key);
    if (values === undefined) this.#values.set(key, [value]);
    else values.push(value);
  }

  take(key: string): Value | undefined {
    return this.#values.get(key)?.shift();
  }
}

const keyOf = (name: string, parameters: unknown): string => `${name} ${canonicalJson(parameters)}`;

function parsed(parameters: string): unknown {
  try {
    return JSON.parse(parameters);
  } catch {
    return parameters;
  }
}

function outcomeOf({ result, decision }: ToolCallRecord): ToolOutcome | undefined {
  if (result === null || decision?.type === "answered" || hasNotRun(result)) return undefined;
  if (!result.isSuccess)
    return { isSuccess: false, error: failureText(result), code: result.code ?? "tool-error" };
  return {
    isSuccess: true,
    content: result.content,
    ...(result.files === undefined ? {} : { files: result.files }),
  };
}

function decisionOf({ decision, parameters, result }: ToolCallRecord): RecordedDecision | undefined {
  if (decision === undefined) return undefined;
  const { by, type, reason } = decision;
  switch (type) {
    case "approved":
      return { by, decision: "approve" };
    case "rejected":
      return { by, decision: { reject: reason ?? "" } };
    case "modified":
      return { by, decision: { approve: parameters } };
    case "answered":
      return { by, decision: { answer: result?.isSuccess === true ? result.content : "" } };
    case "run-again":
      return { by, decision: { outcome: "run-again" } };
    case "worked":
      return {
        by,
        decision: { outcome: "worked", result: result?.isSuccess === true ? result.content : "" },
      };
    case "failed":
    case "unknown":
      return { by, decision: { outcome: type, ...(reason === undefined ? {} : { reason }) } };
    case "expired":
      return { by, decision: { reject: "The question expired." } };
  }
}
