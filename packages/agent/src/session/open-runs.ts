import {
  traceOf,
  type AgentInput,
  type AgentState,
  type AgentStep,
  type ControlMove,
} from "@moora/agent-core-state-machine";
import { AgentError } from "../agent-error.ts";
import type { AgentEvent } from "../agent-event.ts";
import type { AgentRun } from "../agent-run.ts";
import type { Agent } from "../define-agent.ts";
import { moveToEvent } from "./happenings.ts";
import { inOrder } from "./in-order.ts";
import { loopEndOf, type LoopEnd } from "./loop-end.ts";

/** The loops under way, and those who wait for them. */
export interface OpenRuns<Answer> {
  /** A run that waits for the loop which takes this message in. */
  add(messageId: string, run: AgentRun<Answer>): void;
  /** A run that waits for the loop under way. */
  join(run: AgentRun<Answer>): void;
  /** Follows one transition: tells its moves, and begins and ends loops as they say. */
  follow(input: AgentInput, step: AgentStep): void;
  /** To the runs under way, and to whoever listens to the session. */
  tell(event: AgentEvent<Answer>): void;
  failAll(error: AgentError): void;
  fail(run: AgentRun<Answer>, error: AgentError): void;
  readonly isWatched: boolean;
  readonly moves: readonly ControlMove[];
}

export function openRuns<Answer>(
  agent: Agent<Answer>,
  emit: (event: AgentEvent<Answer>) => void,
): OpenRuns<Answer> {
  const waiting = new Map<AgentRun<Answer>, string>();
  const active = new Set<AgentRun<Answer>>();
  const moves: ControlMove[] = [];
  /** An answer may take time to be checked: what happens meanwhile is told after it. */
  const told = inOrder();
  let loopBegin = 0;

  const tell = (event: AgentEvent<Answer>): void => {
    const runs = active.size === 0 ? [] : [...active];
    told(() => {
      emit(event);
      for (const run of runs) run.tell(event);
    });
  };

  const activate = (messageId: string): void => {
    for (const [run, id] of waiting) {
      if (id !== messageId) continue;
      waiting.delete(run);
      active.add(run);
    }
  };

  const endLoop = (end: LoopEnd<Answer> | Promise<LoopEnd<Answer>>): void => {
    const runs = [...active];
    active.clear();
    const tellEnd = (result: LoopEnd<Answer>): void => {
      const failed = result instanceof AgentError;
      emit(
        failed
          ? { type: "Error", error: result }
          : { type: "FinalAnswer", answer: result.answer, text: result.text },
      );
      for (const run of runs) {
        if (failed) run.fail(result);
        else run.succeed(result);
      }
    };
    told(() => (end instanceof Promise ? end.then(tellEnd) : tellEnd(end)));
  };

  const endOf = (state: AgentState, isLast: boolean): LoopEnd<Answer> | Promise<LoopEnd<Answer>> => {
    const trace = traceOf(moves.slice(loopBegin));
    return isLast
      ? loopEndOf(agent, state, trace)
      : new AgentError("Cancelled", "The user wrote again.", { state, trace });
  };

  const isEnd = ({ to }: ControlMove, { config }: AgentState): boolean =>
    to === "Done" || to === "Error" || config.graph.terminals.includes(to);

  return {
    add: (messageId, run) => void waiting.set(run, messageId),
    join: (run) => void active.add(run),
    follow(input, { state, moves: made }) {
      const messageId = input.type === "user-message-received" ? input.messageId : undefined;
      made.forEach((move, index) => {
        if (move.event === "Start") {
          loopBegin = moves.length;
          if (messageId !== undefined) activate(messageId);
        }
        moves.push(move);
        tell(moveToEvent(move));
        if (isEnd(move, state)) endLoop(endOf(state, index === made.length - 1));
      });
      if (messageId !== undefined) activate(messageId);
    },
    tell,
    failAll(error) {
      for (const run of [...active, ...waiting.keys()]) run.fail(error);
      active.clear();
      waiting.clear();
    },
    fail(run, error) {
      waiting.delete(run);
      active.delete(run);
      run.fail(error);
    },
    get isWatched() {
      return [...active].some((run) => run.isWatched);
    },
    moves,
  };
}
