import { errorText } from "@moora/agent-core-effects/internal";
import { AgentError, type Clock } from "@moora/agent-core-effects";
import {
  isLoopRunning,
  ignoredReason,
  type AgentInput,
  type AgentState,
  type IgnoredReason,
} from "@moora/agent-core-state-machine";
import type { ApprovalRequested } from "../agent-event.ts";
import { SessionError } from "../durable/session-error.ts";
import { RunControl } from "../run-control.ts";
import { contentProblem, userMessage, type UserContent } from "../user-message.ts";
import type { RunTracker } from "./run-tracker.ts";
import { parsed } from "./parse-or-refuse.ts";
import { checkOptionalText } from "./session-arguments.ts";
import type { Receipt, Session } from "./session.ts";
import type { StreamingOverlay } from "./streaming.ts";

export interface MessageHost<Answer> {
  readonly newId: (prefix: string) => string;
  readonly clock: Clock;
  readonly state: () => AgentState;
  readonly overlay: StreamingOverlay;
  readonly runs: RunTracker<Answer>;
  readonly dispatch: (...inputs: readonly AgentInput[]) => Promise<Receipt>;
  readonly cancel: Session["cancel"];
  /** The questions that are open now, for those who iterate over a run. */
  readonly open: () => readonly ApprovalRequested[];
}

/** The methods of a session that send messages and wait for answers, with the end of the run that the session holds. */
export interface Saying<Answer> {
  /** `what` names the content in the messages of errors. Default: "message". */
  readonly ask: (content: UserContent, what?: "message" | "task") => RunControl<Answer>;
  readonly running: () => RunControl<Answer> | undefined;
  readonly send: Session<Answer>["send"];
}

/** What a user says to a session, with and without waiting for the result; and waiting without saying anything. */
export function messageSender<Answer>({
  newId,
  clock,
  state,
  overlay,
  runs,
  dispatch,
  cancel,
  open,
}: MessageHost<Answer>): Saying<Answer> {
  const messageOf = (content: UserContent): AgentInput =>
    parsed(userMessage(content, { messageId: newId("user"), timestamp: clock.now() }));

  /** Under `restart` a message that is taken ends the loop; what was streamed of its answer so far is kept with it. */
  const say = (input: AgentInput): Promise<Receipt> => {
    const partial = overlay.partialAt(state());
    const restarts = state().config.interjection === "restart" && partial !== "";
    const { timestamp } = input;
    return restarts && ignoredReason(input)(state()) === undefined
      ? dispatch({ type: "re-act-cancelled", reason: "The user wrote again.", partial, timestamp }, input)
      : dispatch(input);
  };

  /** Its cancel ends the loop. A cancel that cannot be stored ends the run alone; one that comes too late does nothing. */
  const newRun = (): RunControl<Answer> => {
    const run: RunControl<Answer> = new RunControl((reason) => {
      checkOptionalText("reason", reason);
      cancel(reason).catch((cause: unknown) => runs.fail(run, notStored(cause, "cancel")));
    }, open);
    return run;
  };

  const running = (): RunControl<Answer> | undefined => {
    if (!isLoopRunning(state())) return undefined;
    const run = newRun();
    runs.join(run);
    return run;
  };

  const ask: Saying<Answer>["ask"] = (content, what = "message") => {
    const run = newRun();
    let input: AgentInput;
    try {
      input = messageOf(content);
    } catch (cause) {
      run.fail(invalidContent(what, content, cause));
      return run;
    }
    if (input.type === "user-message-received") runs.add(input.messageId, run);
    say(input).then(
      (taken) => {
        if (taken.status === "ignored") runs.fail(run, ignoredMessage(what, taken.reason));
      },
      (cause: unknown) => runs.fail(run, notStored(cause, "message")),
    );
    return run;
  };

  return { ask, running, send: async (content) => await say(messageOf(content)) };
}

const invalidContent = (what: string, content: unknown, cause: unknown): AgentError => {
  const problem = contentProblem(content);
  const reason = errorText(cause);
  const message =
    problem?.path === "content" ? `The ${what} ${problem.message}` : `Invalid ${what}: ${reason}`;
  return new AgentError("AgentFailed", message, { reason: "InputRefused", cause });
};

const ignoredMessage = (what: string, reason: IgnoredReason): AgentError => {
  const message =
    reason === "blank"
      ? `The ${what} must not be blank. Pass text or attachments.`
      : `The ${what} was not taken: ${reason}.`;
  return new AgentError("AgentFailed", message, { reason });
};

/** Why a message or a cancel did not become part of the session. */
function notStored(cause: unknown, what: "message" | "cancel"): AgentError {
  if (cause instanceof AgentError) return cause;
  if (cause instanceof SessionError)
    return new AgentError("Conflict", cause.message, { reason: cause.code, cause });
  return new AgentError("MemoryError", `The ${what} could not be stored.`, { cause });
}
