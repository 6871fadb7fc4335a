import { defineAgent, defineTool, type Agent } from "@moora/agent";
import { noUsage, type LlmCaller, type LlmOutcome } from "@moora/llm";
import * as z from "zod";

/** A conversation of many messages, in which each turn of the user leads to some tool calls, one after the other. */
export interface Chat {
  /** The tool calls of each message. */
  readonly callsPerMessage: number;
  /** The characters of each tool result. */
  readonly resultLength: number;
  /** Called by each tool call before it returns, with its number after the message, from 1. Default: nothing. */
  readonly onCall?: (number: number) => void | Promise<void>;
}

const words = "All work and no play makes Jack a dull boy. ";

/**
 * Text that no other part of the conversation has, as the text of a provider is: one flat string of its own, which shares
 * no memory with another one.
 */
function uniqueText(number: number, length: number): string {
  const text = `${number}: ${words.repeat(Math.ceil(length / words.length))}`.slice(0, length);
  return Buffer.from(text).toString("latin1");
}

const lookInput = z.object({ query: z.string(), number: z.number() });

/** The agent of a chat. It and its model may be used by many sessions at once. */
export function chatAgent({ callsPerMessage, resultLength, onCall }: Chat): Agent {
  let calls = 0;
  const look = defineTool({
    name: "look",
    description: "Looks something up.",
    input: lookInput,
    replay: "safe",
    async execute({ number }) {
      await onCall?.(number);
      return uniqueText((calls += 1), resultLength);
    },
  });
  return defineAgent({
    name: "bench",
    llm: chatModel(callsPerMessage),
    tools: [look],
    config: { limits: { maxSteps: callsPerMessage + 2 }, reflection: { aboveInputTokens: 0 } },
  });
}

/** Makes tool calls until the last turn of the user has had as many, by the messages of the request. */
function chatModel(callsPerMessage: number): LlmCaller {
  let outcomes = 0;
  return {
    name: "bench",
    call({ messages }) {
      let turns = 0;
      while (messages.at(-1 - turns)?.role === "assistant") turns += 1;
      return Promise.resolve(outcomeOf((outcomes += 1), turns < callsPerMessage ? turns + 1 : undefined));
    },
  };
}

/** The outcome with a number of its own: a tool call with its number after the message, or the answer. */
const outcomeOf = (id: number, call: number | undefined): LlmOutcome => ({
  ok: true,
  model: "m",
  usage: { ...noUsage, inputTokens: 10, outputTokens: 5 },
  finish: { unified: call === undefined ? "stop" : "tool-calls", raw: "" },
  turn: {
    origin: "bench",
    parts:
      call === undefined
        ? [{ type: "text", text: uniqueText(id, 60) }]
        : [
            {
              type: "tool-call",
              id: `call_${id}`,
              name: "look",
              arguments: JSON.stringify({ query: uniqueText(id, 30), number: call }),
            },
          ],
  },
});

/** The message of a user. */
export const userText = (number: number): string => uniqueText(number, 40);
