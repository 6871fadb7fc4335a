import { errorText } from "@moora/agent-core-effects/internal";
import { AgentError, type Clock } from "@moora/agent-core-effects";
import {
  isLoopRunning,
  ignoredReason,
  type AgentInput,
  type AgentState,
} from "@moora/agent-core-state-machine";
import type { ApprovalRequested, SubAgentEvent } from "../agent-event.ts";
import { SessionError } from "../durable/session-error.ts";
import { RunControl } from "../run-control.ts";
import { contentProblem, userMessage, type UserContent } from "../user-message.ts";
import type { RunTracker } from "./run-tracker.ts";
import { parseOrRefuse } from "./parse-or-refuse.ts";
import { checkOptionalText } from "./session-arguments.ts";
import type { Receipt, Session } from "./session.ts";
import type { StreamingOverlay } from "./streaming.ts";

/** A receipt, as far as a run needs it. */
type Taken =
  | Pick<Extract<Receipt, { status: "accepted" }>, "status">
  | Extract<Receipt, { status: "ignored" }>;

/** What the runs of a session, each of which ends with the answer to its message, need of it. */
export interface AskHost<Answer> {
  /** The input of a message. Throws `InputRefused` for an invalid content. */
  readonly messageOf: (content: UserContent) => AgentInput;
  readonly send: (input: AgentInput) => Promise<Taken>;
  readonly cancel: (reason?: string) => Promise<unknown>;
  readonly runs: Pick<RunTracker<Answer>, "add" | "fail" | "started">;
  /** The open questions, which an iterator of a run receives after the starts of the calls that run. */
  readonly open: () => readonly (ApprovalRequested | SubAgentEvent)[];
}

export interface MessageHost<Answer> extends Pick<AskHost<Answer>, "open"> {
  readonly newId: (prefix: string) => string;
  readonly clock: Clock;
  readonly state: () => AgentState;
  readonly overlay: StreamingOverlay;
  readonly runs: RunTracker<Answer>;
  readonly dispatch: (...inputs: readonly AgentInput[]) => Promise<Receipt>;
  readonly cancel: Session["cancel"];
}

/** The methods of a session that send messages and wait for answers. They return the control of a run, not only its view. */
export interface MessageMethods<Answer> {
  /** `what` names the content in error messages. Default: "message". */
  readonly ask: (content: UserContent, what?: "message" | "task") => RunControl<Answer>;
  readonly running: () => RunControl<Answer> | undefined;
  readonly send: Session<Answer>["send"];
}

/** Creates `ask`. Its runs end as `Session.ask` says, also those of a host that has no session in this process. */
export const messageAsker =
  <Answer>(host: AskHost<Answer>): MessageMethods<Answer>["ask"] =>
  (content, what = "message") => {
    const { runs } = host;
    const run = newRun(host);
    let input: AgentInput;
    try {
      input = host.messageOf(content);
    } catch (cause) {
      run.fail(contentError(what, content, cause));
      return run;
    }
    if (input.type === "user-message-received") runs.add(input.messageId, run);
    host.send(input).then(
      (taken) => {
        if (taken.status === "ignored") runs.fail(run, ignoredError(what, taken.reason));
      },
      (cause: unknown) => runs.fail(run, storeError(cause, "message")),
    );
    return run;
  };

/** Creates a run whose `cancel` ends the loop. If the cancel cannot be stored, it ends only the run; a late one does nothing. */
function newRun<Answer>({
  cancel,
  runs,
  open,
}: Pick<AskHost<Answer>, "cancel" | "runs" | "open">): RunControl<Answer> {
  const run: RunControl<Answer> = new RunControl(
    (reason) => {
      checkOptionalText("reason", reason);
      cancel(reason).catch((cause: unknown) => runs.fail(run, storeError(cause, "cancel")));
    },
    () => [...runs.started(), ...open()],
  );
  return run;
}

/** Creates the methods that send messages (`ask`, `send`) and that wait for the running loop (`running`). */
export function messageSender<Answer>({
  newId,
  clock,
  state,
  overlay,
  runs,
  dispatch,
  cancel,
  open,
}: MessageHost<Answer>): MessageMethods<Answer> {
  const messageOf = (content: UserContent): AgentInput =>
    parseOrRefuse(userMessage(content, { messageId: newId("user"), timestamp: clock.now() }));

  /** Dispatches a message. Under `restart` an accepted message cancels the loop; the text streamed so far is kept. */
  const sendInput = (input: AgentInput): Promise<Receipt> => {
    const partial = overlay.partialAt(state());
    const restarts = state().config.interjection === "restart" && partial !== "";
    const { timestamp } = input;
    return restarts && ignoredReason(input)(state()) === undefined
      ? dispatch({ type: "re-act-cancelled", reason: "The user wrote again.", partial, timestamp }, input)
      : dispatch(input);
  };

  const running = (): RunControl<Answer> | undefined => {
    if (!isLoopRunning(state())) return undefined;
    const run = newRun({ cancel, runs, open });
    runs.join(run);
    return run;
  };

  return {
    ask: messageAsker({ messageOf, send: sendInput, cancel, runs, open }),
    running,
    send: async (content) => await sendInput(messageOf(content)),
  };
}

const contentError = (what: string, content: unknown, cause: unknown): AgentError => {
  const problem = contentProblem(content);
  const reason = errorText(cause);
  const message =
    problem?.message.startsWith("must be") === true && problem.path === "content"
      ? `The ${what} ${problem.message}`
      : `Invalid ${what}: ${reason}`;
  return new AgentError("AgentFailed", message, { reason: "InputRefused", cause });
};

const ignoredError = (
  what: string,
  reason: Extract<Receipt, { status: "ignored" }>["reason"],
): AgentError => {
  const message =
    reason === "blank"
      ? `The ${what} must not be blank. Pass text or attachments.`
      : `The ${what} was ignored: ${reason}.`;
  return new AgentError("AgentFailed", message, { reason });
};

/** The error for a message or a cancel that could not be stored. */
function storeError(cause: unknown, what: "message" | "cancel"): AgentError {
  if (cause instanceof AgentError) return cause;
  if (cause instanceof SessionError)
    return new AgentError("Conflict", cause.message, { reason: cause.code, cause });
  return new AgentError("MemoryError", `The ${what} could not be stored.`, { cause });
}
