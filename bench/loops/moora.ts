import {
  agentTransition,
  defineAgent,
  defineData,
  defineTool,
  effectsAt,
  initialStateOf,
  startSession,
  userMessage,
  type Agent,
  type AgentConfigChange,
  type Tool,
} from "@moora/agent";
import {
  applyInputs,
  defaultRunLimits,
  programOf,
  runProgramSync,
  type EffectHost,
} from "@moora/agent-core-effects";
import { noUsage, type LlmCaller, type LlmOutcome, type LlmRequest } from "@moora/llm";
import * as z from "zod";
import {
  addOne,
  answerText,
  callsAt,
  scriptTurns,
  type CallCounter,
  type NamedLoop,
  type Script,
} from "./script.ts";

/** The outcome of a model call: the calls of a turn, or the answer. */
function outcomeOf(turn: number | undefined, script: Script): LlmOutcome {
  const isAnswer = turn === undefined;
  return {
    ok: true,
    model: "m",
    usage: { ...noUsage, inputTokens: 10, outputTokens: 5 },
    finish: { unified: isAnswer ? "stop" : "tool-calls", raw: "" },
    turn: {
      origin: "bench",
      parts: isAnswer
        ? [{ type: "text", text: answerText }]
        : callsAt(turn, script).map(({ id, input }) => ({
            type: "tool-call",
            id,
            name: "add",
            arguments: input,
          })),
    },
  };
}

/** A model that answers at once. */
export function scriptedModel(script: Script, counter: CallCounter): LlmCaller {
  const next = scriptTurns(script);
  const callSync = ({ messages }: LlmRequest): LlmOutcome => {
    counter.models += 1;
    counter.messages += messages.length;
    return outcomeOf(next(), script);
  };
  return { name: "bench", callSync, call: (request) => Promise.resolve(callSync(request)) };
}

const toolOf = (execute: (a: number) => number | Promise<number>): Tool =>
  defineTool({
    name: "add",
    description: "Adds one.",
    input: z.object({ a: z.number() }),
    replay: "safe",
    execute: ({ a }) => execute(a),
  });

/** The agent of a script. A synchronous one has a tool that returns no promise. */
export function scriptedAgent(
  script: Script,
  counter: CallCounter,
  { isSynchronous = false }: { readonly isSynchronous?: boolean } = {},
): Agent {
  const tool = isSynchronous
    ? toolOf((a) => addOne(counter, a))
    : toolOf((a) => Promise.resolve(addOne(counter, a)));
  return defineAgent({
    name: "bench",
    llm: scriptedModel(script, counter),
    tools: [tool],
    config: configOf(script),
  });
}

const configOf = ({ turns, calls }: Script): AgentConfigChange => ({
  // On its last step, the model is asked for an answer; these runs end before.
  limits: { maxSteps: turns + 2 },
  reflection: { aboveInputTokens: 0 },
  toolCalls: { maxPerTurn: calls, maxParallel: calls },
});

/** A session in memory: reducer, effects, runner, events and messages. */
export const inSession: NamedLoop = {
  name: "session",
  implement(script, counter) {
    const agent = scriptedAgent(script, counter);
    return async () => {
      await using session = startSession(agent);
      await session.ask("Go.");
    };
  },
};

const total = defineData({ schema: z.object({ total: z.number() }), initial: { total: 0 } });

/** A session whose tool changes application data with each result. */
export const inSessionWithData: NamedLoop = {
  name: "session with data",
  implement(script, counter) {
    const tool = defineTool({
      name: "add",
      description: "Adds one.",
      input: z.object({ a: z.number() }),
      replay: "safe",
      data: total,
      execute({ a }, { update }) {
        update((draft) => void (draft.total += 1));
        return Promise.resolve(addOne(counter, a));
      },
    });
    const agent = defineAgent({
      name: "bench",
      llm: scriptedModel(script, counter),
      data: total,
      tools: [tool],
      config: configOf(script),
    });
    return async () => {
      await using session = startSession(agent);
      await session.ask("Go.");
    };
  },
};

type DispatchBatchSync = Parameters<typeof runProgramSync>[1];

/** The reducer and its effects without a session, run one after the other. */
export const byReducer: NamedLoop = {
  name: "reducer",
  implement(script, counter) {
    const agent = scriptedAgent(script, counter, { isSynchronous: true });
    const host: EffectHost = {
      parts: agent.parts,
      limits: defaultRunLimits,
      sessionId: "bench",
      clock: { now: () => 1, after: () => () => undefined },
      signal: new AbortController().signal,
      notify: () => undefined,
      digestOf: () => "",
      synchronous: true,
    };
    return () => {
      let state = agentTransition(userMessage("Go.", { messageId: "m", timestamp: 1 }))(
        initialStateOf(agent),
      );
      const dispatch: DispatchBatchSync = (...inputs) => {
        const next = applyInputs(state, inputs);
        state = next.state;
        return next.applied > 0;
      };
      for (;;) {
        const [effect] = Object.values(effectsAt(state));
        if (effect === undefined) return;
        runProgramSync(programOf(effect, state, host), dispatch);
      }
    };
  },
};
