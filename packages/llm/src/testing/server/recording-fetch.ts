import { isJsonObject, textToJson, type JsonObject } from "../../json.ts";
import type { ScriptedAnswer } from "../conformance/harness.ts";
import type { ServerDialect } from "./server-dialect.ts";

/** A provider in memory: a `fetch` that answers in a dialect, and what was sent through it so far. */
export interface Recording {
  readonly fetch: typeof globalThis.fetch;
  readonly urls: readonly string[];
  readonly headers: readonly Headers[];
  readonly bodies: readonly JsonObject[];
}

/**
 * A `fetch` without a network, which records every request and always returns the same answer; the answer is the text
 * "ok" by default. Requests are not checked: tests compare the recorded ones.
 */
export function recordingFetch(dialect: ServerDialect, answer: ScriptedAnswer = { text: ["ok"] }): Recording {
  const urls: string[] = [];
  const headers: Headers[] = [];
  const bodies: JsonObject[] = [];
  const fetch: Recording["fetch"] = async (input, init) => {
    const json = textToJson(typeof init?.body === "string" ? init.body : "");
    const body = isJsonObject(json) ? json : {};
    urls.push(input instanceof Request ? input.url : String(input));
    headers.push(new Headers(init?.headers));
    if (isJsonObject(json)) bodies.push(json);
    const events = dialect.events(answer, body, (token) => token);
    return new Response(events.map((event) => event.text).join(""), {
      headers: { "content-type": "text/event-stream" },
    });
  };
  return { fetch, urls, headers, bodies };
}
