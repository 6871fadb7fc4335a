import type { LlmRequest } from "@moora/llm";

/** What the user said, as it stands in a request. */
export const requestTexts = (request: LlmRequest | undefined): readonly string[] =>
  (request?.messages ?? []).flatMap((message) =>
    message.role === "user"
      ? message.content.flatMap((content) => (content.type === "text" ? [content.text] : []))
      : [],
  );
