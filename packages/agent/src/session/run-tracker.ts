import { AgentError, isPromise } from "@moora/agent-core-effects";
import {
  type AgentInput,
  type AgentState,
  type AgentStep,
  type ControlMove,
  type Trace,
} from "@moora/agent-core-state-machine";
import type { AgentEvent } from "../agent-event.ts";
import type { Agent } from "../define-agent.ts";
import type { RunControl } from "../run-control.ts";
import { moveToEvent } from "./events.ts";
import { serialQueue } from "./serial-queue.ts";
import { earlyAnswerOf, loopEndOf, type LoopEnd } from "./loop-end.ts";
import { recentMoves } from "./recent-moves.ts";

/** The runs of a session that are not over. */
export interface RunTracker<Answer> {
  /** A run that waits for the answer to this message. */
  add(messageId: string, run: RunControl<Answer>): void;
  /** A run that waits for the end of the loop under way. */
  join(run: RunControl<Answer>): void;
  /** Follows one transition: emits its moves, and ends the runs that it answers. */
  follow(input: AgentInput, step: AgentStep): void;
  /** Emits an event to the runs under way, and to the listeners of the session. */
  emit(event: AgentEvent<Answer>): void;
  failAll(error: AgentError): void;
  fail(run: RunControl<Answer>, error: AgentError): void;
  readonly isWatched: boolean;
  /** The moves of the session, as far back as they are kept. */
  trace(): Trace;
}

export interface RunTrackerHost<Answer> {
  readonly emit: (event: AgentEvent<Answer>) => void;
  /** Hears what goes wrong while events are emitted. */
  readonly onError: (error: unknown) => void;
  /** Hears whether there are runs that are not over, whenever that may have changed. */
  readonly onOpen?: ((isOpen: boolean) => void) | undefined;
}

/**
 * How far a run is. `queued`: its message came while the model was at work, and no request has it yet. `seen`: the next
 * answer is its own. `joined`: it has no message of its own and ends with the loop.
 */
type Progress = "queued" | "seen" | "joined";

export function runTracker<Answer>(
  agent: Agent<Answer>,
  { emit: emitToListeners, onError, onOpen }: RunTrackerHost<Answer>,
): RunTracker<Answer> {
  const waiting = new Map<RunControl<Answer>, string>();
  const active = new Map<RunControl<Answer>, Progress>();
  const moves = recentMoves();
  /** An answer may take time to be checked: what happens meanwhile is emitted after it. */
  const emitInOrder = serialQueue(onError);

  const emit = (event: AgentEvent<Answer>): void => {
    const runs = [...active.keys()];
    emitInOrder(() => {
      emitToListeners(event);
      for (const run of runs) run.emit(event);
    });
  };

  const activate = (messageId: string): void => {
    for (const [run, id] of waiting) {
      if (id !== messageId) continue;
      waiting.delete(run);
      active.set(run, "queued");
    }
  };

  /** A plan takes in what was queued: the next answer is given by a model that has seen it. */
  const markSeen = (): void => {
    for (const [run, progress] of active) if (progress === "queued") active.set(run, "seen");
  };

  const taken = (isTaken: (progress: Progress) => boolean): readonly RunControl<Answer>[] => {
    const runs = [...active].flatMap(([run, progress]) => (isTaken(progress) ? [run] : []));
    for (const run of runs) active.delete(run);
    return runs;
  };

  const endRuns = (
    runs: readonly RunControl<Answer>[],
    end: LoopEnd<Answer> | Promise<LoopEnd<Answer>>,
  ): void => {
    const emitEnd = (result: LoopEnd<Answer>): void => {
      const failed = result instanceof AgentError;
      emitToListeners(
        failed
          ? { type: "Error", error: result }
          : { type: "FinalAnswer", answer: result.answer, text: result.text },
      );
      for (const run of runs) {
        if (failed) run.fail(result);
        else run.succeed(result);
      }
    };
    emitInOrder(() => (isPromise(end) ? end.then(emitEnd) : emitEnd(end)));
  };

  /** Ends the runs of a loop that is over. Messages that no request had go along with the next loop, where one opens. */
  const endLoop = (state: AgentState, isLast: boolean): void => {
    const trace = moves.ofLoop();
    if (!isLast) {
      const error = new AgentError("Cancelled", "The user wrote again.", { state, trace });
      return endRuns(
        taken((progress) => progress !== "queued"),
        error,
      );
    }
    if (state.reActContext.control.type !== "Error") {
      const unseen = taken((progress) => progress === "queued");
      if (unseen.length > 0) emitInOrder(() => unseen.forEach((run) => run.fail(unanswered(state, trace))));
    }
    endRuns(
      taken(() => true),
      loopEndOf(agent, state, trace),
    );
  };

  const followMove = (move: ControlMove, input: AgentInput, { state, moves: made }: AgentStep): void => {
    moves.add(move);
    emit(moveToEvent(move));
    if (isEnd(move, state)) return endLoop(state, move === made.at(-1));
    if (isAnswer(move, input))
      endRuns(
        taken((progress) => progress === "seen"),
        earlyAnswerOf(agent, move, state, moves.ofLoop()),
      );
    if (takesIn(move)) markSeen();
  };

  const changed = (): void => onOpen?.(active.size > 0 || waiting.size > 0);

  return {
    add(messageId, run) {
      waiting.set(run, messageId);
      changed();
    },
    join(run) {
      active.set(run, "joined");
      changed();
    },
    follow(input, step) {
      const messageId = input.type === "user-message-received" ? input.messageId : undefined;
      for (const move of step.moves) {
        if (move.event === "Start" && messageId !== undefined) activate(messageId);
        followMove(move, input, step);
      }
      if (messageId !== undefined) activate(messageId);
      changed();
    },
    emit,
    failAll(error) {
      for (const run of [...active.keys(), ...waiting.keys()]) run.fail(error);
      active.clear();
      waiting.clear();
      changed();
    },
    fail(run, error) {
      waiting.delete(run);
      active.delete(run);
      run.fail(error);
      changed();
    },
    get isWatched() {
      return [...active.keys()].some((run) => run.isWatched);
    },
    trace: moves.all,
  };
}

const isEnd = ({ to }: ControlMove, { config }: AgentState): boolean =>
  to === "Done" || to === "Error" || config.graph.terminals.includes(to);

/** Whether the model has answered what it had seen, and the loop continues with what it had not. */
const isAnswer = ({ event }: ControlMove, input: AgentInput): boolean =>
  event === "UserInterjected" &&
  input.type === "re-act-observed" &&
  input.observation.type === "complete-re-act" &&
  input.observation.problem === undefined;

/** A retry sends the request of the attempt before it: nothing new is in it. */
const takesIn = ({ to, event }: ControlMove): boolean => to === "Planning" && event !== "LlmRetry";

const unanswered = (state: AgentState, trace: Trace): AgentError =>
  new AgentError(
    "AgentFailed",
    "The loop ended before the model had seen this message. The next message takes it along.",
    { reason: "Unanswered", state, trace },
  );
