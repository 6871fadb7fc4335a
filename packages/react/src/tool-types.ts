import type { JsonOf, OtherToolName, Tool, ToolQuestion, ToolReply } from "@moora/agent";
import type { ToolCallPart } from "./chat.ts";

/** The type of the JSON that a tool returns; unknown for one that may return text, which can be any JSON. */
type JsonOfOutput<Output> = [ToolReply] extends [Output]
  ? unknown
  : [Extract<Output, string>] extends [never]
    ? JsonOf<Exclude<Output, ToolQuestion>>
    : unknown;

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

/** The tool calls of an agent, or of its session: a union by the names of its tools. Without their types it is `ToolCallPart`. */
export type ToolCallOf<Type> = Type extends { readonly "~tools"?: infer Tools extends Tool }
  ? CallOfTools<Tools>
  : ToolCallPart;
