import { createGoogle } from "@ai-sdk/google";
import { defineAgent, startSession } from "@moora/agent";
import type { JsonObject, LlmCaller } from "@moora/llm";
import { recordingFetch, type ServerDialect } from "@moora/llm/testing";
import { refusingFetch } from "@moora/testbed/llm/refusing-fetch";
import { aiSdk } from "@moora/llm-ai-sdk";
import { anthropic } from "@moora/llm-anthropic";
import { openai, openaiChat } from "@moora/llm-openai";
import { messagesDialect } from "@moora/testbed/anthropic/messages-dialect";
import { geminiDialect } from "@moora/testbed/google/gemini-dialect";
import { chatDialect } from "@moora/testbed/openai/chat-dialect";
import { responsesDialect } from "@moora/testbed/openai/responses-dialect";
import { describe, expect, it } from "vitest";

const png = { mediaType: "image/png", url: "data:image/png;base64,iVBORw0KGgo=" };

type Connect = (fetch: typeof globalThis.fetch) => LlmCaller;

const apis: readonly (readonly [
  string,
  ServerDialect,
  (part: JsonObject) => boolean,
  JsonObject,
  Connect,
])[] = [
  [
    "Responses API",
    responsesDialect,
    ({ type }) => type === "input_image",
    {
      error: {
        message: "You uploaded an unsupported image. Please make sure your image is valid.",
        type: "invalid_request_error",
        param: null,
        code: "unsupported_image",
      },
    },
    (fetch) => openai("m", { apiKey: "k", fetch }),
  ],
  [
    "Chat Completions",
    chatDialect(),
    ({ type }) => type === "image_url",
    {
      error: {
        message: "Invalid content type. image_url is only supported by certain models.",
        type: "invalid_request_error",
        param: "messages.[1].content.[1].type",
        code: null,
      },
    },
    (fetch) => openaiChat("m", { apiKey: "k", fetch }),
  ],
  [
    "Messages API",
    messagesDialect,
    ({ type }) => type === "image",
    {
      type: "error",
      error: {
        type: "invalid_request_error",
        message: "messages.0.content.1.image: Could not process image",
      },
    },
    (fetch) => anthropic("m", { apiKey: "k", fetch }),
  ],
  [
    "Gemini through the AI SDK",
    geminiDialect,
    (part) => "inlineData" in part,
    {
      error: {
        code: 400,
        message: "Unable to process input image. Please retry or report.",
        status: "INVALID_ARGUMENT",
      },
    },
    (fetch) =>
      aiSdk((connection) => createGoogle({ ...connection, apiKey: "k" })(connection.model), {
        model: "m",
        fetch,
      }),
  ],
];

describe.each(apis)("a server of the %s that refuses an image", (_, dialect, is, error, connect) => {
  it("is asked again without it at once, and not with it by later messages", async () => {
    const { fetch, bodies } = recordingFetch(dialect);
    let refused = 0;
    const counting = (part: JsonObject): boolean => is(part) && (refused += 1) > 0;
    const session = startSession(
      defineAgent({ llm: connect(refusingFetch(fetch, { is: counting, error })) }),
    );
    const first = await session.ask({ content: "What is this?", attachments: [png] });
    const second = await session.ask("And now?");
    expect([first.text, second.text]).toEqual(["ok", "ok"]);
    expect(refused).toBe(1);
    expect(bodies).toHaveLength(2);
    expect(JSON.stringify(bodies[1])).toContain("File not shown");
    await session.close();
  });
});
