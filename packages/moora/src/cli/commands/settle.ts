import type { Command } from "../command.ts";
import { decideCommand } from "../session/decide-command.ts";
import { outcomeDecision } from "../session/outcome-decision.ts";

/** Settles the outcome of a call that a crash interrupted. */
export const settleCommand: Command = decideCommand({
  name: "settle",
  usage: "<session> <call> <outcome>",
  summary: "Settle an interrupted call: run-again, worked, failed or unknown.",
  done: "Settled",
  options: ["result", "reason", "as"],
  optionHelp: { json: "Print the decision as one JSON object." },
  decides: ({ about }) => about === "outcome",
  decisions: ({ args: [, , outcome = ""], options }) => [outcomeDecision(outcome, options)],
});
