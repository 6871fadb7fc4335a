import { answerTextAt, readHeader, rerunSession, stateAt } from "@moora/agent";
import { exitCodes, type ExitCode } from "../cli-host.ts";
import type { Command } from "../command.ts";
import { oneLine } from "../one-line.ts";
import { differencesToLines } from "./check-commands.ts";
import { recordedAgent } from "./recorded-agent.ts";
import { positionOf, sessionCommand, type SessionCall } from "./session-call.ts";

/** What another model or another prompt would have made of a session. */
export const rerunCommand: Command = sessionCommand({
  name: "rerun",
  usage: "<session>",
  summary: "Show what another model or prompt would have made of it. No tool runs.",
  options: ["from", "provider", "model", "base-url", "system"],
  run: rerun,
});

async function rerun({ log, id, options, host, say }: SessionCall): Promise<ExitCode> {
  const { chooseLlm } = await import("../choose-llm.ts");
  const from = positionOf(options, "from") ?? 0;
  const chosen = chooseLlm(options, host.env);
  const { agent: name } = await readHeader(log, id);
  const { state } = await stateAt(log, id);
  const system = options.text("system");
  const config = { ...state.config, models: {}, ...(system !== undefined && { systemPrompt: system }) };
  const agent = recordedAgent(name, { config, tools: state.tools }, chosen.llm);
  const again = await rerunSession(agent, log, id, { from, clock: host.clock });
  const [was, is] = [again.recorded.state, again.state].map((end) => answerTextAt(end));
  const { differences, unrecordedCalls } = again;
  say(
    { id, from, recorded: was, again: is, differences, unrecordedCalls },
    [
      `recorded  ${oneLine(was ?? "")}`,
      `again     ${oneLine(is ?? "")}`,
      ...(unrecordedCalls === 0
        ? []
        : [`${unrecordedCalls} calls were made that the record has no result for.`]),
      ...(differences.length === 0
        ? ["Nothing would have changed."]
        : differencesToLines(differences, "recorded", "again")),
    ].join("\n"),
  );
  return exitCodes.answered;
}
