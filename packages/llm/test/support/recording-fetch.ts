import type { ScriptedAnswer } from "../../src/testing/index.ts";
import { isJsonObject, textToJson, type JsonObject } from "../../src/index.ts";
import type { ServerDialect } from "./protocol-server.ts";

/** A provider in memory: a fetch that answers in a dialect and keeps what was sent. */
export interface Recording {
  readonly fetch: typeof globalThis.fetch;
  readonly urls: string[];
  readonly headers: Headers[];
  readonly bodies: JsonObject[];
}

export function recordingFetch(dialect: ServerDialect, answer: ScriptedAnswer = { text: ["ok"] }): Recording {
  const recording = { urls: [] as string[], headers: [] as Headers[], bodies: [] as JsonObject[] };
  return {
    ...recording,
    fetch: async (input, init) => {
      const body = textToJson(typeof init?.body === "string" ? init.body : "");
      recording.urls.push(input instanceof Request ? input.url : String(input));
      recording.headers.push(new Headers(init?.headers));
      if (isJsonObject(body)) recording.bodies.push(body);
      const events = dialect.events(answer, isJsonObject(body) ? body : {}, (token) => token);
      return new Response(events.map((event) => event.text).join(""), {
        headers: { "content-type": "text/event-stream" },
      });
    },
  };
}
