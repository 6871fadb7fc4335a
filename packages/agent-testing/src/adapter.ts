/**
 * The functions that a scenario needs: open a session on any store, dispatch, look at state, bytes,
 * effects and requests, read and verify the log. A scenario can be written without knowledge of the code behind it.
 */
import {
  canonicalJson,
  defineAgent,
  initialStateOf,
  openSession,
  readSession,
  verifySession,
  type Agent,
  type AgentConfig,
  type AgentConfigChange,
  type AgentEffect,
  type AgentInput,
  type AgentState,
  type Clock,
  type DurableSession,
  type Receipt,
  type Tool,
  type VerifyReport,
} from "@moora/agent";
import { effectsAt, llmRequestAt } from "@moora/agent-core-effects";
import { replay } from "@moora/agent-core-state-machine";
import { memoryLog, type EventLog, type LogRecord } from "@moora/event-log";
import type { LlmCaller, LlmRequest } from "@moora/llm";

/** A store by name, with the path of its directory or file; or any log, such as one of `@moora/event-log-postgres`. */
export type Store =
  | { readonly store: "memory" }
  | { readonly store: "jsonl" | "sqlite"; readonly path: string }
  | { readonly store: EventLog };

/** The options of `open`: the store of the session, its model, and the parts that differ from the defaults. */
export type OpenedAs = Store & {
  readonly llm: LlmCaller;
  readonly tools?: readonly Tool[];
  /** Default: "session". */
  readonly id?: string;
  readonly clock?: Clock;
  /** Creates the ids of messages. Default: as in `openSession`. */
  readonly ids?: (prefix: string) => string;
  readonly limits?: AgentConfigChange;
  /** The approval policy. Default: that of `limits`, else "never". */
  readonly policy?: AgentConfig["approval"]["policy"];
  readonly owner?: string;
};

/** A session under test. A dispatch resolves when its input is in the log. */
export interface ScenarioSession extends AsyncDisposable {
  /** Rejects with a typed error, with `code` and `path`, for a value that is not an input. */
  dispatch(input: unknown): Promise<Receipt>;
  readonly state: AgentState;
  readonly seq: number;
  /** The state as bytes. Equal states have equal bytes. */
  canonical(): Uint8Array;
  cancel(): Promise<Receipt>;
  subscribe(listener: () => void): () => void;
  close(): Promise<void>;
  /** The session itself, for functions that this adapter leaves out. */
  readonly session: DurableSession;
  readonly agent: Agent;
  readonly log: EventLog;
}

export async function open(options: OpenedAs): Promise<ScenarioSession> {
  const { llm, tools = [], id = "session", clock, ids, limits, policy, owner } = options;
  const approval = policy === undefined ? {} : { approval: { policy } };
  const agent = defineAgent({ llm, tools, config: { ...limits, ...approval } });
  const log = await logOf(options);
  const session = await openSession(agent, {
    log,
    id,
    ...(clock === undefined ? {} : { clock }),
    ...(ids === undefined ? {} : { newId: ids }),
    ...(owner === undefined ? {} : { owner }),
  });
  const close = async (): Promise<void> => {
    await session.close();
    if (log !== options.store) await log.close();
  };
  const stateNow = (): AgentState => {
    const { streaming: _, ...state } = session.current();
    return state;
  };
  return {
    dispatch: (input) => session.dispatch(input),
    get state() {
      return stateNow();
    },
    get seq() {
      return session.info().seq;
    },
    canonical: () => canonical(stateNow()),
    cancel: () => session.cancel(),
    subscribe: session.subscribe,
    close,
    session,
    agent,
    log,
    [Symbol.asyncDispose]: close,
  };
}

async function logOf(store: Store): Promise<EventLog> {
  if (typeof store.store === "object") return store.store;
  if (store.store === "memory") return memoryLog();
  if (store.store === "jsonl") return (await import("@moora/event-log/jsonl")).jsonlLog(store.path);
  return (await import("@moora/event-log/sqlite")).sqliteLog(store.path);
}

/** Folds inputs from the initial state of an agent, and returns the resulting state. */
export const fold = (
  inputs: readonly AgentInput[],
  agent: Pick<Agent<unknown>, "config" | "tools"> & Partial<Pick<Agent<unknown>, "parts">>,
): AgentState => replay(inputs, initialStateOf(agent));

/** The effects of a state, in order. */
export const effects = (state: AgentState): readonly AgentEffect[] => Object.values(effectsAt(state));

/** The model request of a state, in the JSON of a provider if `dialect` is given. */
export function request<Wire = LlmRequest>(
  state: AgentState,
  dialect?: (asked: LlmRequest) => Wire,
): Wire | LlmRequest | undefined {
  const asked = llmRequestAt(state);
  return asked === undefined || dialect === undefined ? asked : dialect(asked);
}

/** A state as bytes. Equal states have equal bytes on every engine. */
export const canonical = (state: AgentState): Uint8Array => new TextEncoder().encode(canonicalJson(state));

/** The stored records of a session, each with its input. */
export async function readLog(
  log: EventLog,
  id = "session",
): Promise<readonly (LogRecord & { readonly input: AgentInput | undefined })[]> {
  const { records, inputs } = await readSession(log, id);
  return records.map((record, index) => ({ ...record, input: inputs[index] }));
}

/** Verifies a session of a log (default id: "session") with `verifySession`, and resolves with its report. */
export const verifyLog = (log: EventLog, id = "session"): Promise<VerifyReport> => verifySession(log, id);
