import {
  agentTool,
  defineAgent,
  defineTool,
  toolAsks,
  type Agent,
  type EventLog,
  type Tool,
} from "@moora/agent";
import { sessionObject } from "@moora/cloudflare";
import type { JsonObject, LlmCaller } from "@moora/llm";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";

interface Env {
  readonly SESSIONS: { getByName(name: string): { fetch(request: Request): Promise<Response> } };
}

/** A model that calls the tool that the message of the user names, with the JSON after the name, and answers with its result. */
const newModel = (): LlmCaller =>
  new MockLlmCaller(({ messages }) => {
    const results = messages.flatMap((message) => (message.role === "assistant" ? message.results : []));
    if (results.length > 0) return answers(JSON.stringify(results.map(({ content }) => content)));
    const text = messages.flatMap((message) => (message.role === "user" ? message.content : []));
    const task = text.map((part) => (part.type === "text" ? part.text : "")).join("");
    const [, name = "", json = "{}"] = /^(\w+)(?: (.*))?$/s.exec(task) ?? [];
    return callsTools([{ name, arguments: JSON.parse(json) }]);
  });

const pay = defineTool({
  name: "pay",
  description: "Pays.",
  replay: "once",
  approval: "always",
  input: {
    type: "object",
    properties: { euros: { type: "number" } },
    required: ["euros"],
    additionalProperties: false,
  },
  execute: ({ euros }, { approvedBy }) => `paid ${JSON.stringify(euros)} for ${approvedBy}`,
});

/** A tool that asks for a value of a schema in the middle of its call. */
const asks = (name: string, answer: JsonObject): Tool =>
  defineTool({
    name,
    description: "Asks.",
    input: { type: "object", properties: {} },
    execute: (_, { asked }) =>
      asked === undefined
        ? toolAsks({ question: "Which one?", answer })
        : `heard ${JSON.stringify(asked.reply)}`,
  });

const tools: readonly Tool[] = [pay, asks("weigh", { type: "number" }), asks("choose", { enum: ["1", "2"] })];

const helper = (): Agent => defineAgent({ name: "helper", llm: newModel(), tools });

const leadTools = (log: EventLog): readonly Tool[] => [
  ...tools,
  agentTool(helper(), { name: "helper", description: "Helps." }),
  agentTool(helper(), { name: "assistant", description: "Helps, in a session of its own.", log }),
];

const Base = sessionObject<Env>({
  agent: (_, { log }) =>
    defineAgent({
      name: "lead",
      llm: newModel(),
      tools: leadTools(log),
    }),
  heartbeatMs: 500,
});

export class Sessions extends Base {}

export default {
  async fetch(request: Request, { SESSIONS }: Env): Promise<Response> {
    const [, id = ""] = /\/sessions\/([^/]+)/.exec(request.url) ?? [];
    return await SESSIONS.getByName(id).fetch(request);
  },
};
