import { effectsAt } from "@moora/agent-core-effects";
import {
  replay,
  step,
  type AgentInput,
  type AgentState,
  type ControlMove,
} from "@moora/agent-core-state-machine";
import { checkAnswer, checkFirstLate, checkLate, KeyLedger, settledWithout } from "./effect-laws.ts";
import { deepFreeze } from "./deep-freeze.ts";
import { assertLaw, firstDifference } from "./law-broken.ts";
import { RequestLedger, type Dialects } from "./request-laws.ts";
import {
  checkJson,
  checkLimits,
  checkMoves,
  checkNeverStuck,
  checkReference,
  checkSame,
} from "./transition-laws.ts";

/** How a conversation is held to the laws. */
export interface LawsOptions {
  /** The state that the conversation begins with. */
  readonly from: AgentState;
  /** What providers would refuse, beside the rules that all share. Default: none. */
  readonly dialects?: Dialects;
  /** Whether the whole transcript is replayed after each input (L9). It costs the square of its length. */
  readonly replays?: boolean;
  /**
   * Whether the laws that cost the whole state (L1, L2, L10) are checked at this input, counted from 1. Default: always.
   * Those that cost the change are checked at every one.
   */
  readonly thoroughly?: (count: number) => boolean;
}

/** Holds a conversation to the laws: every input that is applied is checked against L1 to L11. */
export interface LawKeeper {
  readonly state: AgentState;
  readonly inputs: readonly AgentInput[];
  readonly moves: readonly ControlMove[];
  apply(input: AgentInput): AgentState;
}

/** Answers of this many past inputs are offered again after each new one (L6). */
const lateAnswers = 40;

/** First results of this many calls are offered late after each input (L6). */
const lateResults = 4;

export function keepLaws({
  from,
  dialects = {},
  replays = true,
  thoroughly = () => true,
}: LawsOptions): LawKeeper {
  let state = from;
  let effects = effectsAt(from);
  const inputs: AgentInput[] = [];
  const applied: AgentInput[] = [];
  const moves: ControlMove[] = [];
  /** Calls that were settled without a result of their tool, newest last. */
  const abandoned: string[] = [];
  const keys = new KeyLedger();
  const requests = new RequestLedger(dialects);
  keys.follow(state, effects);

  return {
    get state() {
      return state;
    },
    inputs,
    moves,
    apply(input) {
      const thorough = thoroughly(inputs.length + 1);
      const before = thorough ? deepFreeze(state) : state;
      inputs.push(input);
      const stepped = step(thorough ? deepFreeze(input) : input)(before);
      const next = stepped.state;
      checkReference(input, before, next);
      if (thorough) checkSame(input, before, next);
      if (next === before) return before;
      const wanted = effectsAt(next);
      moves.push(...stepped.moves);
      checkMoves(before, next, stepped.moves);
      checkAnswer(input, effects, wanted);
      keys.follow(next, wanted);
      requests.follow(next, Object.values(wanted).find(({ type }) => type === "call-llm")?.key ?? "");
      applied.push(input);
      checkLate(applied.slice(-(thorough ? lateAnswers : 3)), next);
      abandoned.push(...settledWithout(input, before, next));
      checkFirstLate(abandoned.slice(-lateResults), next);
      checkLimits(before, next);
      if (thorough) {
        checkJson(next);
        checkNeverStuck(next);
      }
      if (replays) checkReplay(inputs, from, next);
      state = next;
      effects = wanted;
      return next;
    },
  };
}

/** L9: the live state equals the replayed one. */
export function checkReplay(inputs: readonly AgentInput[], from: AgentState, live: AgentState): void {
  const difference = firstDifference(replay(inputs, from), live);
  assertLaw(difference === undefined, "L9", () => `the replayed state differs: ${difference}`);
}
