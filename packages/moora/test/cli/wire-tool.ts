import { defineTool, type Tool } from "@moora/agent";

/** This file, for `--tools`. */
export const toolsFile: string = import.meta.filename;

/** A tool whose interrupted calls a person has to settle. */
export const wire: Tool = defineTool({
  name: "wire",
  description: "Wires money.",
  input: { type: "object", properties: { euros: { type: "number" } } },
  replay: "once",
  onUnknown: "ask",
  execute: () => "wired again",
});
