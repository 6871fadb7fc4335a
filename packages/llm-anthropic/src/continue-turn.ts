import type { ContentBlockParam, MessageCreateParamsStreaming } from "@anthropic-ai/sdk/resources/messages";
import type { JsonObject } from "@moora/llm";

/** The request that goes on with a turn that paused: what was made so far goes back as it came. */
export function continueTurn(
  body: MessageCreateParamsStreaming,
  blocks: readonly JsonObject[],
  isFirst: boolean,
): MessageCreateParamsStreaming {
  // They came from the API, and no type of the client describes them all.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const completed = blocks as unknown as ContentBlockParam[];
  const last = body.messages.at(-1);
  if (isFirst || last === undefined || typeof last.content === "string") {
    return { ...body, messages: [...body.messages, { role: "assistant", content: completed }] };
  }
  const content = [...last.content, ...completed];
  return { ...body, messages: [...body.messages.slice(0, -1), { role: "assistant", content }] };
}
