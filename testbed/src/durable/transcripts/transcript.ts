import type { LlmCaller, LlmOutcome, LlmRequest } from "@moora/llm";
import { answers, MockLlmCaller, type MockStep, type ScriptedToolCall } from "@moora/llm/testing";
import type {
  Agent,
  AgentConfig,
  AgentConfigChange,
  Decision,
  DurableSession,
  Question,
  SessionView,
} from "@moora/agent";
import {
  calls,
  countingAgent,
  lastAnswer,
  scriptedFor,
  summary,
  type Extras,
  type Script,
} from "../counting-agent.ts";
import { once, type World } from "../counting-tools.ts";
import type { TestClock } from "../../test-clock.ts";

/**
 * A conversation that goes the same way in every process: the model answers by what it is asked, tools count what they
 * do, people decide by what they are asked.
 */
export interface Transcript {
  readonly name: string;
  /** What is said, each when the session is at rest. */
  readonly says: readonly Parameters<DurableSession["send"]>[0][];
  readonly agent: (world: World) => Agent;
  /** What is said to a question, of all that stand; undefined: nothing for now. */
  readonly decide: (question: Question, questions: readonly Question[]) => Decision | undefined;
  readonly deeds: readonly Deed[];
  /** Whether some call of it may be left with an unknown outcome by a crash. */
  readonly mayBeUnknown: boolean;
  /** Whether its outcome depends on the numbers of attempts, to which a crash adds one. */
  readonly countsAttempts: boolean;
}

/** Something that people do once, at a moment of its own. */
export interface Deed {
  readonly name: string;
  readonly when: (view: SessionView) => boolean;
  readonly act: (at: { readonly session: DurableSession; readonly clock: TestClock }) => Promise<unknown>;
  /** The message that it consists of, if it is one. */
  readonly says?: string;
  /** Whether a session has seen it, and need not see it again after its host died. Default: where its message is there. */
  readonly isDone?: (view: SessionView) => boolean;
}

/** Where a model is asked: in which loop and step, and the how manieth time after failures, each from 1. */
export interface Asked {
  readonly request: LlmRequest;
  readonly loop: number;
  readonly step: number;
  readonly attempt: number;
  readonly signal: AbortSignal | undefined;
  readonly world: World;
}

type Step = readonly ScriptedToolCall[] | MockStep;
type Play = Step | ((asked: Asked) => Step | Promise<Step>);

/** What a model does in each step of each loop; after that it answers. */
export type Loops = readonly (readonly Play[])[];

export interface Manner extends Partial<Omit<Transcript, "name" | "agent">> {
  readonly config?: AgentConfigChange;
  readonly extras?: Extras;
  /** How a model answers that is asked for a summary. */
  readonly reflects?: Play;
}

/** A transcript whose model goes by what stands in its request. */
export function transcript(name: string, script: Script, manner: Manner = {}): Transcript {
  const mayBeUnknown = script.flat().some((step) => "name" in step && once.has(step.name));
  const model = ({ request }: Asked): Step => scriptedFor(script, request);
  return made(name, model, { mayBeUnknown, ...withTools(manner, script) });
}

/** A transcript whose model goes by the loop and the step that it is asked in. */
export function inLoops(name: string, loops: Loops, manner: Manner = {}): Transcript {
  const { reflects = answers(summary) } = manner;
  const play = (asked: Asked): Play =>
    asked.request.purpose === "reflect" ? reflects : (loops[asked.loop - 1]?.[asked.step - 1] ?? lastAnswer);
  return made(name, (asked) => played(play(asked), asked), withTools(manner, loops.flat()));
}

const played = (play: Play, asked: Asked): Step | Promise<Step> =>
  typeof play === "function" ? play(asked) : play;

/** The tools that a script names, and those that are always there. */
function withTools(manner: Manner, script: readonly Play[]): Manner {
  const named = script.flatMap((play) => (typeof play === "function" ? [] : namesIn(play)));
  return { ...manner, extras: { tools: ["look", "pay", ...named], ...manner.extras } };
}

function namesIn(step: Step): readonly string[] {
  if ("hangsAfter" in step) return [];
  if (!("ok" in step)) return step.map(({ name }) => name);
  return step.ok ? step.turn.parts.flatMap((part) => (part.type === "tool-call" ? [part.name] : [])) : [];
}

function made(name: string, script: (asked: Asked) => Step | Promise<Step>, manner: Manner): Transcript {
  const { config, extras, says = ["Please."], decide = () => "approve", deeds = [] } = manner;
  return {
    name,
    says,
    decide,
    deeds,
    mayBeUnknown: manner.mayBeUnknown ?? false,
    countsAttempts: manner.countsAttempts ?? false,
    agent: (world) => countingAgent(world, modelOf(script, world), config, extras),
  };
}

const modelOf = (script: (asked: Asked) => Step | Promise<Step>, world: World): LlmCaller => ({
  name: "mock",
  async call(request, options = {}) {
    const [loop, step, attempt] = (options.idempotencyKey ?? "").split("/").slice(-3).map(Number);
    const { signal } = options;
    const asked = { request, loop: loop ?? 1, step: step ?? 1, attempt: attempt ?? 1, signal, world };
    return await new MockLlmCaller([stepOf(await script(asked))]).call(request, options);
  },
});

const stepOf = (step: Step): MockStep => ("ok" in step || "hangsAfter" in step ? step : calls(step));
/** What a model does when it is asked again and again for the same, after failures; the last one stays. */
export const tries =
  (...outcomes: readonly Step[]): Play =>
  ({ attempt }) =>
    outcomes[Math.min(attempt, outcomes.length) - 1] ?? lastAnswer;

export const asks = (...tools: readonly string[]): Pick<AgentConfig, "approval"> => ({
  approval: { policy: { tools } },
});

/** A message that is sent at a moment of its own. */
export const speaks = (text: string, when: Deed["when"]): Deed => ({
  name: text,
  says: text,
  when,
  act: ({ session }) => session.send(text),
});

export const cancels = (when: Deed["when"], reason?: string): Deed => ({
  name: "cancel",
  when,
  act: ({ session }) => session.cancel(reason),
});

export const pauses = (when: Deed["when"], reason?: string): Deed => ({
  name: "pause",
  when: (view) => view.paused == null && when(view),
  act: ({ session }) => session.pause(reason),
});

export const resumes = (when: Deed["when"]): Deed => ({
  name: "resume",
  when: (view) => view.paused != null && when(view),
  act: ({ session }) => session.resume(),
});

/** A schedule that is due once, five seconds after the beginning. */
export const schedules = (message: string, when: Deed["when"]): Deed => ({
  name: message,
  says: message,
  when,
  act: ({ session }) => session.schedule({ id: "later", at: 1_005_000, message }, "ada"),
});

export const answersOnce = (text: string): LlmOutcome =>
  answers(text, { usage: { inputTokens: 10, outputTokens: 5 } });
