import type { ContentBlockParam, MessageCreateParamsStreaming } from "@anthropic-ai/sdk/resources/messages";
import type { JsonObject } from "@moora/llm";

/** The request that continues a paused turn: the blocks so far are sent back unchanged. */
export function continueTurn(
  body: MessageCreateParamsStreaming,
  blocks: readonly JsonObject[],
  isFirst: boolean,
): MessageCreateParamsStreaming {
  // The blocks are from the API, and the SDK has no type for all of them.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const completed = blocks as unknown as ContentBlockParam[];
  const last = body.messages.at(-1);
  if (isFirst || last === undefined || typeof last.content === "string")
    return { ...body, messages: [...body.messages, { role: "assistant", content: completed }] };

  const content = [...last.content, ...completed];
  return { ...body, messages: [...body.messages.slice(0, -1), { role: "assistant", content }] };
}
