import { AgentError } from "@moora/agent-core-effects";
import type { AgentConfigChange, AgentInput, AgentState } from "@moora/agent-core-state-machine";
import { frozenState } from "@moora/agent-core-state-machine/internal";
import type { Agent } from "../define-agent.ts";
import { memberAt } from "../team/member-at.ts";
import { changeCopy, checkedConfigChange } from "../validate-config.ts";
import type { SessionBase } from "./create-session.ts";
import { dataUpdater } from "./data-updater.ts";
import type { Decisions } from "./decisions.ts";
import type { AgentMachine } from "./agent-machine.ts";
import { messageSender, type MessageMethods } from "./messages.ts";
import { checkAccess, type OutsideInputs } from "./outside-inputs.ts";
import { parseOrRefuse } from "./parse-or-refuse.ts";
import { questionsAt } from "./questions.ts";
import { SerialQueue } from "./serial-queue.ts";
import {
  checkedListener,
  checkFields,
  checkOptionalId,
  checkOptionalText,
  checkText,
} from "./session-arguments.ts";
import { scheduleMethods } from "./schedules.ts";
import type { SessionOutput } from "./session-output.ts";
import { InputRefused, type Receipt, type Session } from "./session.ts";
import type { StreamingOverlay } from "./streaming.ts";
import type { SubAgents } from "./sub-agents.ts";

/** The parts of a session that its methods use. */
export interface SessionParts<Answer> {
  readonly base: Pick<SessionBase, "id" | "clock" | "newId">;
  readonly output: SessionOutput<Answer>;
  readonly machine: AgentMachine;
  readonly outside: OutsideInputs;
  readonly decisions: Decisions;
  readonly subAgents: SubAgents;
  readonly stop: (createError: () => AgentError) => void;
}

/** The methods of a session for applications, and the `ask` that returns the control of the run. */
export function sessionMethods<Answer>(
  agent: Agent<Answer>,
  parts: SessionParts<Answer>,
): { readonly session: Session<Answer>; readonly ask: MessageMethods<Answer>["ask"] } {
  const { base, output, machine, outside, decisions, subAgents } = parts;
  const { runs, overlay, questions } = output;
  const cancel = (reason?: string, requestId?: string): Promise<Receipt> =>
    cancelLoop(parts, reason, requestId);
  const messages = messageSender<Answer>({
    newId: base.newId,
    clock: base.clock,
    state: machine.current,
    overlay,
    runs,
    cancel,
    dispatch: (...inputs) => outside.dispatch(...inputs),
    open: questions.events,
  });
  const close = async (): Promise<void> => {
    stopSession(parts);
    await subAgents.close();
  };

  const session: Session<Answer> = {
    id: base.id,
    ask: (content) => messages.ask(content).run,
    running() {
      const control = messages.running();
      if (control !== undefined && outside.stopped !== undefined) runs.fail(control, outside.stopped);
      return control?.run;
    },
    send: messages.send,
    dispatch: async (value) => {
      if (isBinder(value)) return await outside.dispatchLate((state) => lateInput(value, frozenState(state)));
      const input = parseOrRefuse(value);
      checkAccess(input);
      return await (input.type === "tool-call-decided" ? decisions.dispatch(input) : outside.dispatch(input));
    },
    ...hostMethods(agent, parts),
    update: dataUpdater(agent, base, outside),
    decide: (question, decision, by, requestId) => decisions.decide(question, decision, by, requestId),
    settle: (toolCallId, settlement, by) => decisions.settle(toolCallId, settlement, by),
    cancel,
    ...pauseMethods(parts),
    ...scheduleMethods(parts),
    questions: () => [...questionsAt(machine.current()), ...subAgents.questions()],
    ...viewMethods(overlay, machine),
    subscribe: (listener) => output.changes.add(checkedListener(listener)),
    onEvent: (listener) => questions.listen(output.events, checkedListener(listener)),
    onInput: (listener) => output.inputs.add(ofFrozenStates(checkedListener(listener))),
    onError: (listener) => output.errors.listen(checkedListener(listener)),
    trace: () => runs.trace(),
    async settled() {
      await machine.settled();
      await runs.emitted();
    },
    close,
    [Symbol.asyncDispose]: close,
  };
  return { session, ask: messages.ask };
}

/** What a session shows now. */
const viewMethods = (
  overlay: StreamingOverlay,
  { current, seq }: Pick<AgentMachine, "current" | "seq">,
): Pick<Session, "current" | "draft" | "seq"> => ({
  current: () => overlay.viewOf(frozenState(current())),
  draft: () => overlay.draftAt(current()),
  seq,
});

const ofFrozenStates =
  (listener: Parameters<Session["onInput"]>[0]): typeof listener =>
  (input, state, seq) =>
    listener(input, frozenState(state), seq);

type Binder = (state: AgentState) => unknown;

const isBinder = (value: unknown): value is Binder => typeof value === "function";

/** The input that a function from outside computes for a state; undefined if it computes none. */
function lateInput(bind: Binder, state: AgentState): AgentInput | undefined {
  const value = bind(state);
  if (value === undefined) return undefined;
  const input = parseOrRefuse(value);
  checkAccess(input);
  if (input.type !== "tool-call-decided") return input;
  const message = "A function may not return a decision: its deadline is checked before. Call decide.";
  throw new InputRefused({ code: "not-allowed", path: "type", message });
}

/** The methods that pause, resume and retry, which any process with access to the session may call. */
const pauseMethods = ({
  base,
  outside,
}: Pick<SessionParts<never>, "base" | "outside">): Pick<Session, "pause" | "resume" | "retry"> => ({
  async retry(requestId) {
    checkOptionalId("requestId", requestId);
    return await outside.dispatch({
      type: "loop-retried",
      ...(requestId === undefined ? {} : { requestId }),
      timestamp: base.clock.now(),
    });
  },
  async pause(reason, requestId) {
    checkOptionalText("reason", reason);
    checkOptionalId("requestId", requestId);
    return await outside.dispatch({
      type: "session-paused",
      ...(reason === undefined ? {} : { reason: reason.toWellFormed() }),
      ...(requestId === undefined ? {} : { requestId }),
      timestamp: base.clock.now(),
    });
  },
  async resume(requestId) {
    checkOptionalId("requestId", requestId);
    return await outside.dispatch({
      type: "session-resumed",
      ...(requestId === undefined ? {} : { requestId }),
      timestamp: base.clock.now(),
    });
  },
});

/** The methods that only the process that runs the session may call. */
const hostMethods = (
  agent: Agent<unknown>,
  { base, machine, outside }: Pick<SessionParts<never>, "base" | "machine" | "outside">,
): Pick<Session, "configure" | "note"> => ({
  configure: configureInTurn(async (change) => {
    const state = machine.current();
    const config = checkedConfigChange(memberAt(agent, state) ?? agent, state.config, change);
    return await outside.dispatchOfHost({
      type: "agent-configured",
      config,
      timestamp: base.clock.now(),
    });
  }),
  note: async (text) => {
    checkText("text", text);
    return await outside.dispatchOfHost({ type: "context-note-added", text, timestamp: base.clock.now() });
  },
});

/**
 * Applies one change after the other: each is checked against the configuration that the change before it results in. A
 * change is copied when it is given.
 */
function configureInTurn(apply: (change: AgentConfigChange) => Promise<Receipt>): Session["configure"] {
  const queue = new SerialQueue(() => undefined);
  return async (config) => {
    checkFields("config", config);
    const change = changeCopy(config);
    const { promise, resolve, reject } = Promise.withResolvers<Receipt>();
    queue.add(() => apply(change).then(resolve, reject));
    return await promise;
  };
}

/** Cancels the loop. The input contains the text that was streamed so far. */
async function cancelLoop<Answer>(
  { base, output, machine, outside }: SessionParts<Answer>,
  reason: string | undefined,
  requestId: string | undefined,
): Promise<Receipt> {
  checkOptionalText("reason", reason);
  checkOptionalId("requestId", requestId);
  const partial = output.overlay.partialAt(machine.current());
  return await outside.dispatch({
    type: "re-act-cancelled",
    ...(reason === undefined ? {} : { reason: reason.toWellFormed() }),
    ...(partial === "" ? {} : { partial }),
    ...(requestId === undefined ? {} : { requestId }),
    timestamp: base.clock.now(),
  });
}

function stopSession<Answer>({ output, machine, stop }: SessionParts<Answer>): void {
  stop(() => {
    const about = { reason: "SessionClosed", state: machine.current(), trace: output.runs.trace() };
    return new AgentError("Cancelled", "The session was closed.", about);
  });
}
