import type { Command } from "../command.ts";
import { textToAnswers } from "../questions/line-to-reply.ts";
import { decideCommand } from "../session/decide-command.ts";

/** Answers a question of the agent. */
export const answerCommand: Command = decideCommand({
  name: "answer",
  usage: "<session> <call> <text...>",
  summary: "Answer a question of the agent, with text or JSON.",
  done: "Answered",
  options: ["as"],
  optionHelp: { json: "Print the decision as one JSON object." },
  decides: ({ about }) => about === "answer",
  decisions: ({ args }) => textToAnswers(args.slice(2).join(" ")),
});
