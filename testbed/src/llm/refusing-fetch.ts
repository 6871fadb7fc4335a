import type { JsonObject } from "@moora/llm";
import { isJsonObject, textToJson } from "@moora/llm/adapter";

/** A kind of part that a server does not accept. */
export interface RefusedPart {
  /** Whether an object in the body of a request is such a part. */
  readonly is: (part: JsonObject) => boolean;
  /** The body of the error, as the provider sends it. */
  readonly error: JsonObject;
  /** Default: 400. */
  readonly status?: number;
}

/** Whether a body contains a part, at any depth. */
export const containsPart = (body: unknown, is: RefusedPart["is"]): boolean =>
  Array.isArray(body)
    ? body.some((item) => containsPart(item, is))
    : isJsonObject(body) && (is(body) || Object.values(body).some((value) => containsPart(value, is)));

/** A `fetch` that answers like a server which refuses one kind of part, and passes every other request on. */
export const refusingFetch =
  (fetch: typeof globalThis.fetch, { is, error, status = 400 }: RefusedPart): typeof globalThis.fetch =>
  async (input, init) =>
    containsPart(textToJson(typeof init?.body === "string" ? init.body : ""), is)
      ? Response.json(error, { status })
      : await fetch(input, init);
