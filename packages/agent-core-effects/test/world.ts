import {
  agentTransition,
  initialAgentState,
  type AgentConfigChange,
  type AgentInput,
  type AgentState,
  type ToolDefinition,
} from "@moora/agent-core-state-machine";
import { MockLlmCaller, type MockScript } from "@moora/llm/testing";
import {
  defaultRunLimits,
  inputAt,
  runProgram,
  effectsAt,
  programOf,
  type AgentParts,
  type EffectHost,
  type Progress,
  type Tool,
} from "../src/index.ts";
import { TestClock } from "@moora/testbed/test-clock";

export interface WorldOptions {
  readonly script?: MockScript;
  readonly tools?: readonly Tool[];
  /** What the reducer knows of the tools; by default what they say of themselves. */
  readonly definitions?: Readonly<Record<string, ToolDefinition>>;
  readonly config?: AgentConfigChange;
  readonly parts?: Partial<AgentParts>;
  readonly host?: Partial<EffectHost>;
  readonly state?: AgentState;
}

/** An agent whose effects are run one at a time, when a test says so. */
export class World {
  readonly clock: TestClock = new TestClock(1_000);
  readonly llm: MockLlmCaller;
  readonly inputs: AgentInput[] = [];
  readonly notices: Progress[] = [];
  readonly host: EffectHost;
  state: AgentState;

  constructor({ script = [], tools = [], definitions, config, parts, host, state }: WorldOptions = {}) {
    this.llm = new MockLlmCaller(script);
    const own = Object.fromEntries(tools.map((tool) => [tool.name, tool.definition]));
    this.state = state ?? initialAgentState({ tools: definitions ?? own, ...(config && { config }) });
    this.host = {
      parts: {
        llm: this.llm,
        tools: new Map(tools.map((tool) => [tool.name, tool])),
        states: {},
        predicates: {},
        ...parts,
      },
      sessionId: "session",
      clock: this.clock,
      limits: defaultRunLimits,
      signal: new AbortController().signal,
      notify: (notice) => void this.notices.push(notice),
      dispatchNow: (input) => void this.apply(input),
      dispatchAtOnce: async (input) => this.apply(inputAt(input, this.state)),
      digestOf: (...texts) => JSON.stringify(texts),
      ...host,
    };
  }

  /** Applies inputs; answers whether one of them did anything. */
  readonly apply = (...inputs: readonly AgentInput[]): boolean => {
    const before = this.state;
    for (const input of inputs) {
      const next = agentTransition(input)(this.state);
      if (next !== this.state) this.inputs.push(input);
      this.state = next;
    }
    return this.state !== before;
  };

  say(content: string, messageId: string = `user-${this.state.messages.length}`): this {
    this.apply({ type: "user-message-received", messageId, content, timestamp: this.clock.now() });
    return this;
  }

  get keys(): readonly string[] {
    return Object.keys(effectsAt(this.state));
  }

  /** Runs the effect of this key to its end. */
  async perform(key: string, signal: AbortSignal = this.host.signal): Promise<void> {
    const effect = effectsAt(this.state)[key];
    if (effect === undefined) throw new Error(`${key} is not wanted; wanted: ${this.keys.join(", ")}`);
    await runProgram(programOf(effect, this.state, { ...this.host, signal }), async (...inputs) =>
      this.apply(...inputs.map((input) => inputAt(input, this.state))),
    );
  }

  /** Runs everything that is wanted, one after the other, until only people are waited for. */
  async settle(): Promise<this> {
    for (let runs = 0; runs < 1_000; runs += 1) {
      const next = Object.values(effectsAt(this.state)).find(({ type }) => type !== "ask-human");
      if (next === undefined) return this;
      await this.perform(next.key);
    }
    throw new Error("It never settles.");
  }

  /** The results of all calls in the last request, in their order. */
  get results(): readonly { readonly isError: boolean; readonly content: string }[] {
    const messages = this.llm.requests.at(-1)?.messages ?? [];
    return messages.flatMap((message) => (message.role === "assistant" ? message.results : []));
  }
}
