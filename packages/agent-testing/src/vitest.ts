/** Matchers for vitest: `expect.extend(agentMatchers)` once, in a test or a set-up file. */
import { isObject, refuse, shownValue } from "@moora/agent-core-effects/internal";
import {
  type AgentInput,
  type AgentState,
  type InitialAgentOptions,
  initialAgentState,
} from "@moora/agent-core-state-machine";
import type { LlmRequest } from "@moora/llm";
// oxlint-disable-next-line no-empty-named-blocks require-module-specifiers -- the module that is extended below
import type {} from "vitest";
import { keepLaws } from "./laws/keep-laws.ts";
import type { Dialects } from "./laws/request-laws.ts";
import { requestProblems } from "./laws/request-problems.ts";
import { replayLog } from "./replay-log.ts";
import { notShown } from "./shown.ts";

/** The matchers that are added to `expect`. */
export interface AgentMatchers<R = unknown> {
  /** For a state or a transcript: the agent is in this control state and wants exactly these effects, in any order. */
  toShow(control: string, ...effectKeys: readonly string[]): R;
  /** For a list of inputs: each of them, applied in order, keeps every law. */
  toKeepLaws(agent?: InitialAgentOptions | AgentState): R;
  /** For a model request: all providers would accept it. */
  toBeSendable(dialects?: Dialects): R;
  /** For the path of an exported session: it replays to the recorded state. Await the result. */
  toReplay(): Promise<R>;
}

declare module "vitest" {
  // oxlint-disable-next-line no-unused-vars no-empty-object-type -- both parameters have to be named as vitest does
  interface Matchers<
    R extends void | Promise<void> = void | Promise<void>,
    T = unknown,
  > extends AgentMatchers<R> {}
}

interface Outcome {
  readonly pass: boolean;
  readonly message: () => string;
}

const outcome = (problem: string | undefined, otherwise: string): Outcome => ({
  pass: problem === undefined,
  message: () => problem ?? otherwise,
});

/** A state, or a transcript that has led to one. */
type Shows = AgentState | { readonly state: AgentState };

const stateIn = (received: Shows): AgentState => ("state" in received ? received.state : received);

/** Throws `BuildError` for a value that a matcher cannot look at: `expect` takes values of every type. */
function checkReceived(need: string, isFit: boolean, received: unknown, hint = ""): void {
  if (!isFit) refuse(`${need}, got ${shownValue(received)}.${hint}`);
}

const isShowing = (received: unknown): boolean =>
  isObject(received) && ("reActContext" in received || "state" in received);

/** For `expect.extend`. */
export const agentMatchers: {
  toShow(received: Shows, control: string, ...keys: readonly string[]): Outcome;
  toKeepLaws(received: readonly AgentInput[], agent?: InitialAgentOptions | AgentState): Outcome;
  toBeSendable(received: LlmRequest, dialects?: Dialects): Outcome;
  toReplay(received: string): Promise<Outcome>;
} = {
  toShow(received, control, ...keys) {
    checkReceived("toShow needs a state or a transcript", isShowing(received), received);
    return outcome(notShown(stateIn(received), control, keys), `expected something else than ${control}`);
  },

  toKeepLaws(received, agent = {}) {
    const hint = " A transcript has checked the laws already.";
    checkReceived("toKeepLaws needs a list of inputs", Array.isArray(received), received, hint);
    const keeper = keepLaws({ from: "transcript" in agent ? agent : initialAgentState(agent) });
    return outcome(
      messageOf(() => received.forEach((input) => keeper.apply(input))),
      "expected a law to be broken",
    );
  },

  toBeSendable(received, dialects = {}) {
    checkReceived("toBeSendable needs a model request", isObject(received), received);
    const refusals = Object.entries(dialects).flatMap(([name, dialect]) =>
      dialect(received).map((problem) => `${name}: ${problem}`),
    );
    const problems = [...requestProblems(received), ...refusals];
    return outcome(
      problems.length === 0 ? undefined : `expected a request that can be sent:\n${problems.join("\n")}`,
      "expected a request that some provider refuses",
    );
  },

  async toReplay(received) {
    checkReceived("toReplay needs the path of an exported session", typeof received === "string", received);
    const problem = await replayLog(received).then(
      () => undefined,
      (error: unknown) => String(error),
    );
    return outcome(problem, `expected ${received} to replay to another state`);
  },
};

function messageOf(work: () => void): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return String(error);
  }
}
