import { answerTextAt, readHeader, rerunSession, stateAt } from "@moora/agent";
import { oneLine } from "@moora/agent-core-effects/internal";
import { exitCodes, type ExitCode } from "../cli-host.ts";
import type { Command } from "../command.ts";
import { compare } from "../session/comparison.ts";
import { recordedAgent } from "../session/recorded-agent.ts";
import { checkPosition, sessionCommand, type SessionCall } from "../session/session-call.ts";

/** Runs a session again with another model or prompt. */
export const rerunCommand: Command = sessionCommand({
  name: "rerun",
  usage: "<session>",
  summary: "Run a session again with another model or prompt. No tool runs.",
  options: ["from", "provider", "model", "base-url", "timeout", "system", "all"],
  run: rerun,
});

async function rerun({ log, id, options, host, print }: SessionCall): Promise<ExitCode> {
  const { chooseLlm } = await import("../choose-llm.ts");
  const from = options.from ?? 0;
  const chosen = chooseLlm(options, host.env);
  const { agent: name } = await readHeader(log, id);
  const { seq, state } = await stateAt(log, id);
  checkPosition(id, from, seq);
  const system = options.system;
  const config = { ...state.config, models: {}, ...(system !== undefined && { systemPrompt: system }) };
  const agent = recordedAgent(name, { config, tools: state.tools }, chosen.llm);
  const rerunResult = await rerunSession(agent, log, id, { from, clock: host.clock });
  const [a, b] = [rerunResult.recorded.state, rerunResult.state];
  const [before, after] = [answerTextAt(a), answerTextAt(b)];
  const comparison = compare({ a, b, names: { a: "recorded", b: "rerun" } });
  const { conversation } = comparison;
  const { differences, unrecordedCalls, droppedUpdates } = rerunResult;
  print(
    { id, from, recorded: before, rerun: after, conversation, differences, unrecordedCalls, droppedUpdates },
    [
      `recorded  ${oneLine(before ?? "")}`,
      `rerun     ${oneLine(after ?? "")}`,
      ...(droppedUpdates === 0
        ? []
        : [`${droppedUpdates} changes of the data do not fit; they were left out.`]),
      ...(unrecordedCalls === 0 ? [] : [`${unrecordedCalls} calls have no recorded result; they failed.`]),
      ...comparison.text(differences, options.all === true),
    ].join("\n"),
  );
  return exitCodes.answered;
}
