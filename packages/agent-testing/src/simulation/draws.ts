import type { Agent, Tool } from "@moora/agent";
import { defineTool, type ToolOutcome } from "@moora/agent-core-effects";
import type { Json } from "@moora/llm";
import type { Choose } from "../choose.ts";
import { oneOf } from "./choices.ts";
import { constantsOf, type Constants } from "./constants.ts";
import { drawJson } from "./draw-json.ts";

/** Draws the arguments of calls of one tool: any JSON value, from choices only. */
export type DrawArguments = (choose: Choose) => unknown;

/** Draws what a tool returns for arguments (parsed JSON): text, JSON, `toolReply(...)` or `toolAsks(...)`, as `execute` returns it. */
export type DrawResult = (choose: Choose, parameters: unknown) => unknown;

/** Draws of the user that replace the default ones. */
export interface OwnDraws {
  /** Arguments, by name of the tool. Default: drawn from the tool's JSON Schema. */
  readonly draw?: Readonly<Record<string, DrawArguments>>;
  /** Results, by name of the tool. Default: "ok", "", "42", and JSON. */
  readonly drawResults?: Readonly<Record<string, DrawResult>>;
  /** The messages of users. Default: a few short messages. */
  readonly texts?: readonly string[];
}

/** The functions with which actions are drawn. */
export interface Draws {
  readonly choose: Choose;
  /** Whether a fault may come, by its name. */
  readonly faults: (name: string) => boolean;
  text(): string;
  /** JSON text of the arguments of a call. */
  argumentsFor(name: string, schema: Json): string;
  /** A value for a JSON Schema. */
  json(schema: Json): Json;
  /** The result of a tool, where the user draws it. */
  result(name: string, parameters: string): Promise<ToolOutcome> | undefined;
}

const defaultTexts = ["Do it.", "And now?", "  \u2028 hm", "Stop the other thing and look at this", "𝒳"];

export function drawsFor(
  agent: Agent<unknown>,
  choose: Choose,
  faults: (name: string) => boolean,
  own: OwnDraws,
): Draws {
  const { draw = {}, drawResults = {}, texts = defaultTexts } = own;
  const constants: Constants = constantsOf(agent);
  const json = (schema: Json): Json => drawJson(schema, choose, constants);
  return {
    choose,
    faults,
    json,
    text: () => oneOf(choose, texts),
    argumentsFor: (name, schema) => JSON.stringify(ownOf(draw, name)?.(choose) ?? json(schema)),
    result: (name, parameters) => {
      const drawn = ownOf(drawResults, name);
      return drawn === undefined ? undefined : outcomeOf(() => drawn(choose, JSON.parse(parameters)));
    },
  };
}

const ownOf = <T>(values: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(values, name) ? values[name] : undefined;

/** The outcome of a tool that returns a value, by the rules of real tools. */
async function outcomeOf(value: () => unknown): Promise<ToolOutcome> {
  const tool: Tool = defineTool({
    name: "drawn",
    description: "Returns a drawn value.",
    input: { type: "object" },
    execute: value,
  });
  const { signal } = new AbortController();
  const context = { toolCallId: "call_0", idempotencyKey: "", attempt: 1, signal, progress: () => undefined };
  return await tool.run("{}", context);
}
