/** The loop of `@mariozechner/pi-agent-core`: an `Agent` with one tool, as its README creates it. */
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

/** The parts of the packages that the loop uses. They are not installed in this workspace. */
interface PiAgentCore {
  readonly Agent: new (options: {
    readonly initialState: {
      readonly systemPrompt: string;
      readonly model: object;
      readonly tools: object[];
    };
    readonly streamFn: (model: unknown, context: { readonly messages: readonly unknown[] }) => PiStream;
  }) => {
    readonly state: { readonly errorMessage?: string };
    prompt(text: string): Promise<void>;
  };
}

interface PiAi {
  readonly createAssistantMessageEventStream: () => PiStream;
  readonly Type: {
    readonly Object: (properties: object) => object;
    readonly Number: () => object;
  };
}

interface PiStream {
  push(event: object): void;
}

const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

const model = {
  id: "m",
  name: "m",
  api: "bench",
  provider: "bench",
  baseUrl: "",
  reasoning: false,
  input: ["text"],
  cost,
  contextWindow: 1_000_000,
  maxTokens: 1_000,
};

const messageOf = (turn: number | undefined, script: Script): object => ({
  role: "assistant",
  api: "bench",
  provider: "bench",
  model: "m",
  usage: { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, totalTokens: 15, cost: { ...cost, total: 0 } },
  stopReason: turn === undefined ? "stop" : "toolUse",
  timestamp: Date.now(),
  content:
    turn === undefined
      ? [{ type: "text", text: answerText }]
      : callsAt(turn, script).map(({ id, input }) => ({
          type: "toolCall",
          id,
          name: "add",
          arguments: JSON.parse(input),
        })),
});

const toolOf = ({ Type }: PiAi, counter: CallCounter): object => ({
  name: "add",
  label: "Add",
  description: "Adds one.",
  parameters: Type.Object({ a: Type.Number() }),
  execute: async (_id: string, { a }: { readonly a: number }) => ({
    content: [{ type: "text", text: String(addOne(counter, a)) }],
    details: {},
  }),
});

export async function loopsOf(load: ImportPeer): Promise<Readonly<Record<string, Implementation>>> {
  // The packages are not installed in this workspace, so their types cannot be imported.
  const { Agent } = (await load("@mariozechner/pi-agent-core")) as unknown as PiAgentCore;
  const pi = (await load("@mariozechner/pi-ai")) as unknown as PiAi;
  return {
    "pi-agent-core": (script, counter) => {
      const next = scriptTurns(script);
      const tools = [toolOf(pi, counter)];
      return async () => {
        const agent = new Agent({
          initialState: { systemPrompt: "", model, tools },
          streamFn(_model, { messages }) {
            counter.models += 1;
            counter.messages += messages.length;
            const turn = next();
            const stream = pi.createAssistantMessageEventStream();
            stream.push({
              type: "done",
              reason: turn === undefined ? "stop" : "toolUse",
              message: messageOf(turn, script),
            });
            return stream;
          },
        });
        await agent.prompt("Go.");
        if (agent.state.errorMessage !== undefined) throw new Error(agent.state.errorMessage);
      };
    },
  };
}
