import type { Json } from "@moora/llm";
import { lostInJson, textToJson } from "@moora/llm/internal";
import type { Command } from "../command.ts";
import type { GivenOptions } from "../options.ts";
import { decideCommand } from "../session/decide-command.ts";
import { UsageError } from "../usage-error.ts";

/** Approves a tool call, also with other arguments. */
export const approveCommand: Command = decideCommand({
  name: "approve",
  usage: "<session> [call]",
  summary: "Approve a tool call.",
  done: "Approved",
  options: ["args", "as"],
  optionHelp: { json: "Print the decision as one JSON object." },
  decides: ({ about }) => about === "approval",
  decisions: ({ options }) => [options.has("args") ? { approve: givenArguments(options) } : "approve"],
});

function givenArguments(options: GivenOptions): Json {
  const text = options.text("args") ?? "";
  const json = textToJson(text);
  if (json === undefined) throw new UsageError("--args must be JSON.", 'Use --args \'{"name": "value"}\'.');
  const lost = lostInJson(text);
  if (lost !== undefined) throw new UsageError(`--args: ${lost}`);
  return json;
}
