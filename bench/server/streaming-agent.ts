import { defineAgent, type Agent } from "@moora/agent";
import { answers } from "@moora/llm/testing";

/** The number of pieces in which a model streams its answer. */
export const pieces = 20;

/** An agent whose model answers at once, in pieces. */
export const streamingAgent = (): Agent =>
  defineAgent({
    name: "helper",
    llm: {
      name: "pieces",
      async call(_request, options = {}) {
        for (let piece = 0; piece < pieces; piece += 1)
          options.onChunk?.({ type: "text", text: `piece ${piece} ` });
        return answers(Array.from({ length: pieces }, (_, piece) => `piece ${piece} `).join(""));
      },
    },
  });
