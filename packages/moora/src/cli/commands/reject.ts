import type { Command } from "../command.ts";
import { decideCommand } from "../session/decide-command.ts";

/** Rejects a tool call, or a question of the agent. */
export const rejectCommand: Command = decideCommand({
  name: "reject",
  usage: "<session> [call]",
  summary: "Reject a tool call, or a question of the agent.",
  done: "Rejected",
  options: ["reason", "as"],
  optionHelp: { json: "Print the decision as one JSON object." },
  decides: ({ about }) => about !== "outcome",
  decisions: ({ options }) => [{ reject: options.text("reason") ?? "" }],
});
