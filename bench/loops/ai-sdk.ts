/** The loop of the AI SDK: a `ToolLoopAgent` with one tool, as its guide to agents creates it. */
import {
  type ImportPeer,
  addOne,
  answerText,
  callsAt,
  scriptTurns,
  type CallCounter,
  type Implementation,
  type Script,
} from "./script.ts";

/** The parts of the package that the loop uses. It is not installed in this workspace. */
interface AiSdk {
  readonly ToolLoopAgent: new (settings: object) => {
    generate(options: { readonly prompt: string }): Promise<{ readonly text: string }>;
  };
  readonly tool: (tool: object) => object;
  readonly isStepCount: (count: number) => object;
}

interface Zod {
  readonly object: (shape: object) => object;
  readonly number: () => object;
}

const resultOf = (turn: number | undefined, script: Script): object => ({
  finishReason: { unified: turn === undefined ? "stop" : "tool-calls", raw: undefined },
  usage: {
    inputTokens: { total: 10, noCache: 10, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: 5, text: 5, reasoning: undefined },
  },
  warnings: [],
  content:
    turn === undefined
      ? [{ type: "text", text: answerText }]
      : callsAt(turn, script).map(({ id, input }) => ({
          type: "tool-call",
          toolCallId: id,
          toolName: "add",
          input,
        })),
});

/** A language model without its mock, which keeps every call. */
function modelOf(script: Script, counter: CallCounter): object {
  const next = scriptTurns(script);
  return {
    specificationVersion: "v4",
    provider: "bench",
    modelId: "m",
    supportedUrls: {},
    async doGenerate({ prompt }: { readonly prompt: readonly unknown[] }) {
      counter.models += 1;
      counter.messages += prompt.length;
      return resultOf(next(), script);
    },
  };
}

export async function loopsOf(load: ImportPeer): Promise<Readonly<Record<string, Implementation>>> {
  // The packages are not installed in this workspace, so their types cannot be imported.
  const { ToolLoopAgent, tool, isStepCount } = (await load("ai")) as unknown as AiSdk;
  const z = (await load("zod")) as unknown as Zod;
  return {
    "AI SDK": (script, counter) => {
      const agent = new ToolLoopAgent({
        model: modelOf(script, counter),
        stopWhen: isStepCount(script.turns + 1),
        tools: {
          add: tool({
            description: "Adds one.",
            inputSchema: z.object({ a: z.number() }),
            execute: async ({ a }: { readonly a: number }) => addOne(counter, a),
          }),
        },
      });
      return async () => {
        const { text } = await agent.generate({ prompt: "Go." });
        if (text !== answerText) throw new Error(`The answer is ${text}.`);
      };
    },
  };
}
