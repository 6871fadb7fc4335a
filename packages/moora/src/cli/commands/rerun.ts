import { answerTextAt, readHeader, rerunSession, stateAt, type Agent, type AgentState } from "@moora/agent";
import { oneLine } from "@moora/agent-core-effects/internal";
import { exitCodes, type CliHost, type ExitCode } from "../cli-host.ts";
import type { Command } from "../command.ts";
import type { Options } from "../options.ts";
import { compare } from "../session/comparison.ts";
import { recordedAgent, type AgentName } from "../session/recorded-agent.ts";
import { checkPosition, sessionCommand, type SessionCall } from "../session/session-call.ts";

/** Runs a session again with another model or prompt. */
export const rerunCommand: Command = sessionCommand({
  name: "rerun",
  usage: "<session>",
  summary: "Run a session again with another model or prompt. No tool runs.",
  options: ["from", "provider", "model", "base-url", "timeout", "system", "all"],
  run: rerun,
});

/** The agent of a recorded session with the model and the prompt of the options. Throws `CliFailure`. */
export async function agentToRerun(
  { system, ...options }: Options,
  { env }: Pick<CliHost, "env">,
  { agent, state: { config, tools } }: { readonly agent: AgentName; readonly state: AgentState },
): Promise<Agent> {
  const { chooseLlm } = await import("../choose-llm.ts");
  const { llm } = chooseLlm(options, env);
  const prompt = system === undefined ? {} : { systemPrompt: system };
  return recordedAgent(agent, { config: { ...config, models: {}, ...prompt }, tools }, llm);
}

async function rerun({ log, id, options, host, print }: SessionCall): Promise<ExitCode> {
  const from = options.from ?? 0;
  const { agent: name } = await readHeader(log, id);
  const { seq, state } = await stateAt(log, id);
  checkPosition(id, from, seq);
  const agent = await agentToRerun(options, host, { agent: name, state });
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
