import type { Tool, ToolQuestion, ToolReply } from "@moora/agent";
import type { ToolCallPart } from "./chat.ts";

/** The type of a value that was written as JSON and read again. */
export type JsonOf<Value> = unknown extends Value
  ? unknown
  : Value extends { readonly toJSON: (key: string) => infer Data }
    ? DataOfJson<Data>
    : DataOfJson<Value>;

/** JSON leaves out undefined fields, and has null for undefined items. */
type DataOfJson<Value> = Value extends string | number | boolean | null
  ? Value
  : Value extends readonly unknown[]
    ? ItemsOf<Value>
    : Value extends object
      ? { readonly [Key in keyof Value as Exclude<Key, symbol>]: JsonOf<Value[Key]> }
      : undefined;

type ItemsOf<Values extends readonly unknown[]> = number extends Values["length"]
  ? readonly ItemOf<JsonOf<Values[number]>>[]
  : { readonly [Index in keyof Values]: ItemOf<JsonOf<Values[Index]>> };

type ItemOf<Value> = Value extends undefined ? null : Value;

/** The type of the JSON that a tool returns; unknown for one that may return text, which can be any JSON. */
type JsonOfOutput<Output> = [ToolReply] extends [Output]
  ? unknown
  : [Extract<Output, string>] extends [never]
    ? JsonOf<Exclude<Output, ToolQuestion>>
    : unknown;

/** Exists only as a type, which a comparison with the name of a tool excludes; no tool can have the text of its member. */
declare enum OtherTool {
  name = "(another tool)",
}

/**
 * The name of a tool that the type of an agent does not name: a tool of an MCP server, the former name of a tool, `hand_off`, or a
 * name that the model made up. As a value it is that name.
 */
export type OtherToolName = OtherTool;

type CallOfTool<Of extends Tool> = Of extends Tool
  ? string extends Of["name"]
    ? never
    : ToolCallPart<
        Of["name"],
        JsonOf<NonNullable<Of["~types"]>["arguments"]>,
        JsonOfOutput<NonNullable<Of["~types"]>["output"]>
      >
  : never;

type CallOfTools<Tools extends Tool> = [CallOfTool<Tools>] extends [never]
  ? ToolCallPart
  : CallOfTool<Tools> | ToolCallPart<OtherToolName>;

/** The tool calls of an agent: a union by the names of its tools. Without their types it is `ToolCallPart`. */
export type ToolCallOf<Type> = Type extends { readonly "~tools"?: infer Tools extends Tool }
  ? CallOfTools<Tools>
  : ToolCallPart;
