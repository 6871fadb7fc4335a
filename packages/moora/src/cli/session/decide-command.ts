import {
  InputRefused,
  readHeader,
  type Decision,
  type DurableSession,
  type Question,
  type Receipt,
} from "@moora/agent";
import { toolOf } from "@moora/agent-core-state-machine/internal";
import { CliFailure } from "../cli-failure.ts";
import { exitCodes, type ExitCode } from "../cli-host.ts";
import type { Command } from "../command.ts";
import { agentName } from "../options-to-agent.ts";
import type { OptionName } from "../options.ts";
import { CommandHints } from "./command-hints.ts";
import { callToText, openQuestion } from "./open-question.ts";
import { attachSession } from "./attach-session.ts";
import { argumentsProblem } from "./recorded-agent.ts";
import { readToolsModule } from "./tools-module.ts";
import { sessionCommand } from "./session-call.ts";
import type { SessionCall } from "./open-call.ts";

type Decisions = readonly [Decision, ...Decision[]];

interface DecideCommand extends Pick<Command, "name" | "usage" | "summary" | "optionHelp"> {
  readonly done: string;
  readonly options: readonly OptionName[];
  /** Whether the command decides this question. */
  readonly decides: (question: Pick<Question, "about">) => boolean;
  /** The decisions that the arguments may mean, most likely first: the first that fits the question counts. */
  readonly decisions: (call: SessionCall) => Decisions;
}

/** A command that decides a question of a session, whether or not a process runs it. */
export const decideCommand = ({ done, decides, decisions, ...row }: DecideCommand): Command =>
  sessionCommand({ ...row, run: (call) => decide(call, { done, decides, decisions }) });

async function decide(
  call: SessionCall,
  { done, decides, decisions }: Pick<DecideCommand, "done" | "decides" | "decisions">,
): Promise<ExitCode> {
  const { id, args, hints } = call;
  const candidates = decisions(call);
  await using session = await attachSession(call, "post");
  const open = { id, hints, questions: session.questions(), state: session.current() };
  const question = openQuestion(open, args[1], decides);
  const [receipt, decision] = await firstThatFits(session, question, candidates, call);
  if (receipt.status === "ignored") throw ignoredDecisionError(question, receipt);
  const { toolCallId, name } = question;
  call.print(
    { toolCallId, name, decision, seq: receipt.seq },
    `${done}: ${callToText(decidedCall(question, decision))}. It is record ${receipt.seq}.`,
  );
  call.screen.dim(`If no process runs the session: ${await resumeCommand(call)}`);
  return exitCodes.answered;
}

/** The call as it was decided: an approval with other arguments has these. */
const decidedCall = (question: Question, decision: Decision): Question =>
  typeof decision === "object" && "approve" in decision
    ? { ...question, parameters: decision.approve }
    : question;

/** The command that resumes the session, with the tools that it was last run with, or with the module of its agent. */
export async function resumeCommand({ log, target, id, options, hints }: SessionCall): Promise<string> {
  const { agent } = await readHeader(log, id);
  if (agent.name !== agentName)
    return `${hints.command("run", "--session", id, "--agent", "FILE")}, with the module of the agent "${agent.name}"`;
  const tools = (await readToolsModule(log, target, id))?.path;
  return new CommandHints({ options, target, tools }).runCommand("run", "--session", id);
}

/** Applies the decisions in order until one fits the tool or the schema of the question. */
async function firstThatFits(
  session: DurableSession,
  question: Question,
  [decision, ...others]: Decisions,
  call: SessionCall,
): Promise<readonly [Receipt, Decision]> {
  await checkArguments(session, question, decision);
  try {
    const by = call.options.text("as") ?? call.host.user;
    return [await session.decide(question, decision, by), decision];
  } catch (error) {
    const [next, ...rest] = others;
    if (!(error instanceof InputRefused) || next === undefined) throw error;
    return await firstThatFits(session, question, [next, ...rest], call);
  }
}

/** Checks changed arguments against the recorded definition of the tool: its code may not be available here. */
async function checkArguments(
  session: DurableSession,
  { name }: Question,
  decision: Decision,
): Promise<void> {
  const tool = toolOf(session.current(), name);
  if (tool === undefined || typeof decision !== "object" || !("approve" in decision)) return;
  const problem = await argumentsProblem(JSON.stringify(decision.approve), tool);
  if (problem !== undefined)
    throw new CliFailure(exitCodes.refused, `The arguments are not valid for ${name}: ${problem}`);
}

function ignoredDecisionError(
  question: Question,
  { reason, decidedBy }: Extract<Receipt, { status: "ignored" }>,
): CliFailure {
  const message =
    decidedBy === undefined
      ? `The decision was ignored: ${reason}.`
      : `Already decided by ${decidedBy}: ${callToText(question)}.`;
  return new CliFailure(exitCodes.refused, message);
}
