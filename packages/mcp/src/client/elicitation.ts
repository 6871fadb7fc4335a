import type { JsonObject } from "@moora/llm";

/** A question of a server to a person, asked during a call. */
export interface McpElicitation {
  /** The name of the server, as the application gives it. */
  readonly server: string;
  /** The question. It is the text of the server: show who asks. */
  readonly message: string;
  /** The JSON Schema of the answer: an object whose fields are texts, numbers, booleans or choices. */
  readonly schema: JsonObject;
}

/** The answer of a person: the fields of the schema, a refusal, or no answer. */
export type McpElicitationAnswer =
  | { readonly action: "accept"; readonly content: Readonly<Record<string, ElicitedValue>> }
  | { readonly action: "decline" }
  | { readonly action: "cancel" };

/** The value of one field. */
export type ElicitedValue = string | number | boolean | readonly string[];

/** Answers the questions of a server. A rejection counts as no answer. */
export type OnElicitation = (
  question: McpElicitation,
) => McpElicitationAnswer | Promise<McpElicitationAnswer>;
