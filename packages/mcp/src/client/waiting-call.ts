import { toolAsks, type ToolContext } from "@moora/agent-core-effects";
import { truncated } from "@moora/agent-core-effects/internal";
import type { JsonObject } from "@moora/llm";
import { McpError } from "../mcp-error.ts";
import { causeText } from "./cause-text.ts";
import type { McpElicitationAnswer } from "./elicitation.ts";
import { withoutExpressions } from "./received-schema.ts";

/** A question of a server to a person, in the middle of a call. */
export interface ServerQuestion {
  /** Its name among the questions that the server asks together; "" in the older protocol, which asks one at a time. */
  readonly key: string;
  readonly message: string;
  /** The JSON Schema of the answer. */
  readonly schema: JsonObject;
}

/** A question with what the person did. */
export interface AnsweredQuestion extends ServerQuestion {
  readonly answer: McpElicitationAnswer;
}

/** What a call keeps while a person is asked: JSON in the log of the session. */
export interface WaitingCall {
  /** How often the server has asked in this call. */
  readonly rounds: number;
  /** What the server gets back with the answers. */
  readonly requestState?: string;
  /** The questions without an answer. The first is asked now. */
  readonly open: readonly ServerQuestion[];
  readonly answered: readonly AnsweredQuestion[];
}

/** How often a server may ask in one call, which is also the SDK's own limit. */
const maxRounds = 10;
/** The maximum length of a question, in characters. It is the text of the server. */
const maxMessageLength = 4_000;
/** The maximum length of the schema of an answer, in characters. */
const maxSchemaLength = 20_000;

/** A call in which nothing was asked yet. */
const untouched: WaitingCall = { rounds: 0, open: [], answered: [] };

/** The call as an earlier attempt has left it, with the reply of the person to its question. */
export function resumedCall(asked: ToolContext["asked"]): WaitingCall {
  if (asked === undefined) return untouched;
  // This package has given it to `toolAsks`.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const waiting = asked.state as unknown as WaitingCall;
  const [question, ...open] = waiting.open;
  if (question === undefined) return waiting;
  return {
    ...waiting,
    open,
    answered: [...waiting.answered, { ...question, answer: replyToAnswer(asked.reply) }],
  };
}

type Reply = NonNullable<ToolContext["asked"]>["reply"];

function replyToAnswer(reply: Reply): McpElicitationAnswer {
  // A question without an answer in time was neither accepted nor refused.
  if (reply.type === "refused") return { action: reply.by === "deadline" ? "cancel" : "decline" };
  // The answer fits the schema of the server, which is a form of simple fields.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const content = reply.answer as unknown as Extract<McpElicitationAnswer, { action: "accept" }>["content"];
  return { action: "accept", content };
}

/** The same call after another round of questions. Throws `McpError` for one round too many. */
export function nextRound(tool: string, waiting: WaitingCall, change: Partial<WaitingCall>): WaitingCall {
  if (waiting.rounds >= maxRounds) {
    throw new McpError(
      "input-required",
      `The MCP tool ${tool} has asked more than ${maxRounds} times in one call.`,
    );
  }
  return { ...waiting, ...change, rounds: waiting.rounds + 1 };
}

/** Asks the first open question of a call. Throws `McpError` for one that cannot be asked. */
export function askPerson(server: string, tool: string, waiting: WaitingCall): ReturnType<typeof toolAsks> {
  const [question] = waiting.open;
  const { message = "", schema = {} } = question ?? {};
  try {
    if (JSON.stringify(schema).length > maxSchemaLength)
      throw new Error(`Its schema has more than ${maxSchemaLength} characters.`);
    return toolAsks({
      question: `The MCP server ${server} asks: ${truncated(message, maxMessageLength)}`,
      // A copy of an object is an object.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      answer: withoutExpressions(schema) as JsonObject,
      state: waiting,
    });
  } catch (error) {
    throw new McpError(
      "invalid-result",
      `The question of the MCP tool ${tool} cannot be asked: ${causeText(error)} The call ran and may have had its effect.`,
      { cause: error },
    );
  }
}
