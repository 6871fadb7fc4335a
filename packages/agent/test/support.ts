import type { AgentInput } from "@moora/agent-core-state-machine";
import { MockLlmCaller, type MockScript } from "@moora/llm/testing";
import {
  defineAgent,
  startSession,
  type Agent,
  type AgentConfigChange,
  type AgentEvent,
  type Session,
  type StartOptions,
  type Tool,
} from "../src/index.ts";
import { TestClock } from "@moora/testbed/test-clock";

export { toolOf } from "@moora/testbed/tool-of";

export interface Scene {
  readonly agent: Agent;
  readonly llm: MockLlmCaller;
  readonly clock: TestClock;
  readonly session: Session;
  readonly events: AgentEvent[];
  readonly inputs: AgentInput[];
}

let ids = 0;

/** A session with a scripted model and a clock that is moved by hand; ids count up. */
export function scene(
  script: MockScript,
  {
    tools = [],
    config = {},
    options = {},
  }: {
    readonly tools?: readonly Tool[];
    readonly config?: AgentConfigChange;
    readonly options?: StartOptions;
  } = {},
): Scene {
  const llm = new MockLlmCaller(script);
  const clock = new TestClock(1_000);
  const agent = defineAgent({ llm, tools, config });
  const newId = (prefix: string): string => `${prefix}-${(ids += 1)}`;
  const session = startSession(agent, { id: "ada", clock, newId, ...options });
  const events: AgentEvent[] = [];
  const inputs: AgentInput[] = [];
  session.onEvent((event) => void events.push(event));
  session.onInput((input) => void inputs.push(input));
  return { agent, llm, clock, session, events, inputs };
}

/** Everything that is waiting in this turn of the event loop has happened. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The error that a promise rejects with. */
export const failureOf = (promise: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(promise).then(
    () => {
      throw new Error("It did not fail.");
    },
    (error: unknown) => error,
  );
