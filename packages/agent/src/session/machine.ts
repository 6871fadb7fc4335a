import {
  runProgram,
  effectsAt,
  programOf,
  type AgentEffect,
  type AskHumanEffect,
  type Clock,
  type EffectHost,
  type Progress,
} from "@moora/agent-core-effects";
import { step, type AgentInput, type AgentState, type AgentStep } from "@moora/agent-core-state-machine";
import { digestOf } from "@moora/event-log";
import {
  createMoorex,
  type CommitResult,
  type EffectRun,
  type Moorex,
  type MoorexNotice,
} from "@moora/moorex";
import type { Agent } from "../define-agent.ts";
import type { ErrorReport } from "../error-reports.ts";

/** An accepted input, and what it did in full. */
export interface CommittedStep {
  readonly input: AgentInput;
  readonly step: AgentStep;
}

/** Where inputs go before anyone sees them, and where they stand there. */
export interface InputLedger {
  commit(steps: readonly CommittedStep[]): CommitResult<AgentInput> | Promise<CommitResult<AgentInput>>;
  /** Throws for an input that can never be stored. */
  check(input: AgentInput): void;
  /** Whether an input has become part of the state in another way. */
  knows(input: AgentInput): boolean;
  placeOf(input: AgentInput): { readonly seq: number } | undefined;
}

/** What a machine is made on: where it begins, what it may do, and where its inputs go before anyone sees them. */
export interface MachineBase {
  readonly id: string;
  /** Names the session in idempotency keys and in the digests of questions. Default: its id. */
  readonly identity?: string;
  readonly initial: AgentState;
  /** How many inputs led there. */
  readonly seq: number;
  readonly clock: Clock;
  /** Whether this host runs effects; otherwise it only looks on and posts. */
  readonly runsEffects: boolean;
  /** Whether it may start new ones just now; what runs continues. Default: yes. */
  readonly startsEffects?: () => boolean;
  readonly ledger?: InputLedger;
}

export interface MachineHooks {
  readonly notify: (notice: Progress) => void;
  readonly ask: (effect: AskHumanEffect) => Promise<AgentInput | undefined>;
  /** Each accepted input, when its state has become the current one. */
  readonly published: (input: AgentInput, stepped: AgentStep, seq: number) => void;
  /** Inputs were not made durable; `key` names an effect whose input is kept, to be written again. */
  readonly commitFailed: (error: unknown, key: string | undefined) => void;
  /** An exception that no caller hears of. */
  readonly failed: (report: ErrorReport) => void;
  /** An exception left the loop without an effect that would continue it. */
  readonly broken: (error: unknown) => void;
}

export interface AgentMachine extends Pick<
  Moorex<AgentState, AgentInput, AgentEffect>,
  "dispatch" | "current" | "settled" | "stop"
> {
  /** The sequence number of the newest input that became part of the current state. */
  seq(): number;
  /** Resolves when all work that runs now has ended: models, tools and states, not waits and questions. */
  drained(): Promise<void>;
}

const isWork: Readonly<Record<AgentEffect["type"], boolean>> = {
  "call-llm": true,
  "call-tool": true,
  "probe-tool": true,
  "run-state": true,
  "ask-human": false,
  "wait-until": false,
};

/** The reducer, the effects and the runner of an agent, wired together. */
export function agentMachine(
  { parts, runLimits: limits }: Pick<Agent<unknown>, "parts" | "runLimits">,
  base: MachineBase,
  hooks: MachineHooks,
): AgentMachine {
  const { id, identity = id, clock, ledger } = base;
  /** What each transition did, for those states that are on their way to be seen. */
  const made = new Map<AgentState, AgentStep>();
  /** Inputs that became part of the state: a failed append may have come through, and brings its inputs again. */
  const taken = new WeakSet<AgentInput>();
  const running = new Map<string, AgentEffect>();
  let onDrained: (() => void)[] = [];
  let seq = base.seq;

  const hostBase = {
    parts,
    limits,
    sessionId: identity,
    clock,
    digestOf,
    notify: hooks.notify,
    ask: hooks.ask,
  };

  /** From outside of the effect: the state does not want it anymore. After `stop` there is nothing to count it for. */
  const dispatchLate = (input: AgentInput): void => void moorex.dispatch(input).catch(() => undefined);

  const runEffect = (effect: AgentEffect, state: AgentState): EffectRun<AgentState, AgentInput> => ({
    start(dispatch, signal) {
      const host: EffectHost = {
        ...hostBase,
        signal,
        dispatchNow: (input) => void dispatch(input),
        dispatchLate,
      };
      return runProgram(programOf(effect, state, host), async (...inputs) => {
        const { applied } = await dispatch(...inputs);
        return applied > 0 || inputs.some((input) => taken.has(input));
      });
    },
  });

  const isWorking = (): boolean => [...running.values()].some(({ type }) => isWork[type]);

  const ended = (key: string): void => {
    running.delete(key);
    if (onDrained.length === 0 || isWorking()) return;
    for (const emit of onDrained.splice(0)) emit();
  };

  const wantedAt = (state: AgentState): Readonly<Record<string, AgentEffect>> => {
    if (!base.runsEffects) return {};
    const wanted = effectsAt(state);
    if (base.startsEffects === undefined || base.startsEffects()) return wanted;
    return Object.fromEntries(Object.entries(wanted).filter(([key]) => running.has(key)));
  };

  const report = errorReporter(hooks);
  const onNotice = (notice: Notice): void => {
    switch (notice.type) {
      case "state-updated": {
        taken.add(notice.input);
        seq = ledger?.placeOf(notice.input)?.seq ?? seq + 1;
        const stepped = made.get(notice.state);
        made.delete(notice.state);
        if (stepped !== undefined) hooks.published(notice.input, stepped, seq);
        return;
      }
      case "error-caught":
        return report.caught(notice);
      case "effect-started":
        running.set(notice.key, notice.effect);
        return;
      case "effect-failed":
        report.effectFailed(notice);
        return ended(notice.key);
      case "effect-completed":
      case "effect-canceled":
        return ended(notice.key);
      case "input-received":
      case "input-ignored":
        return;
    }
  };

  const moorex = createMoorex<AgentState, AgentInput, AgentEffect>({
    onNotice,
    initial: () => base.initial,
    transition: (input) => (state) => {
      if (ledger !== undefined && (taken.has(input) || ledger.knows(input))) return state;
      const stepped = step(input)(state);
      if (stepped.state === state) return state;
      ledger?.check(input);
      made.set(stepped.state, stepped);
      return stepped.state;
    },
    effectsAt: wantedAt,
    runEffect,
    ...(ledger === undefined
      ? {}
      : {
          commit: (steps) => {
            const committed = steps.map(({ input, after }) => {
              const stepped = made.get(after);
              if (stepped === undefined) throw new Error("A state is to be logged that no transition made.");
              return { input, step: stepped };
            });
            made.clear();
            for (const { step: stepped } of committed) made.set(stepped.state, stepped);
            return ledger.commit(committed);
          },
        }),
  });

  return {
    dispatch: moorex.dispatch,
    current: moorex.current,
    seq: () => seq,
    settled: moorex.settled,
    stop: moorex.stop,
    drained: () => (isWorking() ? new Promise((resolve) => onDrained.push(resolve)) : Promise.resolve()),
  };
}

type Notice = MoorexNotice<AgentState, AgentInput, AgentEffect>;
type Caught = Extract<Notice, { type: "error-caught" }>;
type Failed = Extract<Notice, { type: "effect-failed" }>;

/** Passes on what no caller hears of: an input from outside that throws or is not stored rejects to its caller. */
function errorReporter({ commitFailed, failed, broken }: Omit<MachineHooks, "notify" | "ask" | "published">) {
  /** The last exception of the reducer: an effect that fails with it was reported already. */
  let ofTransition: unknown;
  return {
    caught({ source, error, key }: Caught): void {
      switch (source) {
        case "commit":
          return commitFailed(error, key);
        case "transition":
          if (key === undefined) return;
          ofTransition = error;
          // The effect hears of it, and dispatches that it failed.
          return failed({ source, error, key });
        case "effectsAt":
          failed({ source, error });
          return broken(error);
        case "subscriber":
          failed({ source: "projection", error });
          return broken(error);
        case "dispatch":
          return;
      }
    },
    /** A question stays open for `decide`; any other effect that fails leaves nothing that would answer it. */
    effectFailed({ key, error, effect }: Failed): void {
      if (error !== ofTransition) failed({ source: "effect", error, key });
      if (effect.type !== "ask-human") broken(error);
    },
  };
}
