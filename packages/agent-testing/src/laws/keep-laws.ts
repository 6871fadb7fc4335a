import { effectsAt } from "@moora/agent-core-effects";
import type { OptionForms } from "@moora/agent-core-effects/internal";
import {
  agentTransition,
  isPaused,
  replay,
  step,
  type AgentInput,
  type AgentState,
  type ControlMove,
} from "@moora/agent-core-state-machine";
import {
  checkAnswer,
  checkFirstLate,
  checkLate,
  checkLookUp,
  KeyLedger,
  settledWithout,
} from "./effect-laws.ts";
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

/** The options of `keepLaws`. */
export interface LawsOptions {
  /** The initial state of the conversation. */
  readonly from: AgentState;
  /** The rules of providers, in addition to those that all providers share. Default: none. */
  readonly dialects?: Dialects;
  /** Whether to replay the whole transcript after each input (L9). The cost is quadratic in its length. */
  readonly replays?: boolean;
  /**
   * Whether to check the laws whose cost depends on the size of the state (L1, L2, L10) at this input, counted from 1.
   * Default: always. The other laws are checked at every input.
   */
  readonly thoroughly?: (count: number) => boolean;
}

/** What the options about laws must be, without the initial state. */
export const lawsForms: OptionForms<Omit<LawsOptions, "from">> = {
  dialects: "object",
  replays: "boolean",
  thoroughly: "function",
};

/** Checks the laws L1 to L11 for every input that is applied. */
export interface LawKeeper {
  readonly state: AgentState;
  readonly inputs: readonly AgentInput[];
  readonly moves: readonly ControlMove[];
  apply(input: AgentInput): AgentState;
}

/** The number of past answers that are dispatched again after each new input (L6). */
const lateAnswers = 40;

/** The number of calls whose first result is dispatched late after each input (L6). */
const lateResults = 4;

/**
 * Creates a keeper of the laws for one conversation, which checks L1 to L11 for every input that it applies. `apply`
 * returns the next state, and throws `LawBroken` for an input that breaks a law.
 */
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
  /** The calls that were settled without a result of their tool, newest last. */
  const abandoned: string[] = [];
  const keys = new KeyLedger();
  const requests = new RequestLedger(dialects);
  keys.follow(...resumed(state, effects));

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
      checkMoves(input, before, next, stepped.moves);
      checkAnswer(input, effects, wanted);
      checkLookUp(effects, next, wanted);
      const [open, work] = resumed(next, wanted);
      keys.follow(open, work);
      if (input.type === "state-handled" && input.replaced !== undefined) requests.replaced();
      requests.follow(open, Object.values(work).find(({ type }) => type === "call-llm")?.key ?? "");
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

/** The state and its effects once it is resumed: a pause retires no key, its work is wanted again. */
function resumed(state: AgentState, effects: Effects): readonly [AgentState, Effects] {
  if (!isPaused(state)) return [state, effects];
  const open = agentTransition({ type: "session-resumed", timestamp: state.updatedAt })(state);
  return [open, effectsAt(open)];
}

type Effects = ReturnType<typeof effectsAt>;

/** L9: the current state equals the replayed one. */
export function checkReplay(inputs: readonly AgentInput[], from: AgentState, live: AgentState): void {
  const difference = firstDifference(replay(inputs, from), live);
  assertLaw(difference === undefined, "L9", () => `the replayed state differs: ${difference}`);
}
