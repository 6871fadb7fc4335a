import { InputRefused, type Decision, type DurableSession, type Question, type Receipt } from "@moora/agent";
import { toolOf } from "@moora/agent-core-state-machine";
import type { Json } from "@moora/llm";
import { textToJson } from "@moora/llm/internal";
import { CliFailure } from "../cli-failure.ts";
import { exitCodes, type ExitCode } from "../cli-host.ts";
import type { Command } from "../command.ts";
import type { GivenOptions, OptionName } from "../options.ts";
import { textToAnswers } from "../questions/line-to-reply.ts";
import { UsageError } from "../usage-error.ts";
import { CommandHints } from "./command-hints.ts";
import { callToText, openQuestion } from "./open-question.ts";
import { openRecorded } from "./open-recorded.ts";
import { outcomeDecision } from "./outcome-decision.ts";
import { argumentsProblem } from "./recorded-agent.ts";
import { rememberedTools } from "./remembered-tools.ts";
import { sessionCommand, type SessionCall } from "./session-call.ts";

type Decisions = readonly [Decision, ...Decision[]];

interface DecideCommand extends Pick<Command, "name" | "usage" | "summary"> {
  readonly done: string;
  readonly options: readonly OptionName[];
  /** Which questions it decides. */
  readonly decides: (question: Question) => boolean;
  /** The decisions it may stand for: the first that fits the question is meant. */
  readonly decisions: (call: SessionCall) => Decisions;
}

const approve: DecideCommand = {
  name: "approve",
  usage: "<session> [call]",
  summary: "Approve a tool call.",
  done: "Approved",
  options: ["args", "as"],
  decides: ({ about }) => about === "approval",
  decisions: ({ options }) => [options.has("args") ? { approve: givenArguments(options) } : "approve"],
};

const reject: DecideCommand = {
  name: "reject",
  usage: "<session> [call]",
  summary: "Reject a tool call, or a question of the agent.",
  done: "Rejected",
  options: ["reason", "as"],
  decides: ({ about }) => about !== "outcome",
  decisions: ({ options }) => [{ reject: options.text("reason") ?? "" }],
};

const answer: DecideCommand = {
  name: "answer",
  usage: "<session> <call> <text...>",
  summary: "Answer a question of the agent, with text or JSON.",
  done: "Answered",
  options: ["as"],
  decides: ({ about }) => about === "answer",
  decisions: ({ words }) => textToAnswers(words.slice(2).join(" ")),
};

const settle: DecideCommand = {
  name: "settle",
  usage: "<session> <call> <outcome>",
  summary: "Settle an interrupted call: run-again, worked, failed or unknown.",
  done: "Settled",
  options: ["result", "reason", "as"],
  decides: ({ about }) => about === "outcome",
  decisions: ({ words: [, , outcome = ""], options }) => [outcomeDecision(outcome, options)],
};

/** The commands that decide something for an agent, whether or not a process runs it. */
export const decideCommands: readonly Command[] = [approve, reject, answer, settle].map(
  ({ done, decides, decisions, ...row }) =>
    sessionCommand({ ...row, run: (call) => decide(call, { done, decides, decisions }) }),
);

async function decide(
  call: SessionCall,
  { done, decides, decisions }: Pick<DecideCommand, "done" | "decides" | "decisions">,
): Promise<ExitCode> {
  const { id, words, hints } = call;
  const candidates = decisions(call);
  await using session = await openRecorded(call, "post");
  const open = { id, hints, questions: session.questions(), state: session.current() };
  const question = openQuestion(open, words[1], decides);
  const [receipt, decision] = await firstThatFits(session, question, candidates, call);
  if (receipt.status === "ignored") throw notAccepted(question, receipt);
  const { toolCallId, name } = question;
  call.print(
    { toolCallId, name, decision, seq: receipt.seq },
    `${done}: ${callToText(question)}. It is record ${receipt.seq}.`,
  );
  call.screen.aside(`If no process runs the session: ${await resumeCommand(call)}`);
  return exitCodes.answered;
}

/** The command that resumes the session, with the tools that it was last run with. */
async function resumeCommand({ log, place, id, options }: SessionCall): Promise<string> {
  const tools = (await rememberedTools(log, place, id))?.path;
  return new CommandHints({ options, place, tools }).runCommand("run", "--session", id);
}

/** Gives the decisions, one after the other, until one fits the tool or the schema of the question. */
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

/** Changed arguments have to fit the recorded definition of the tool: its code need not be here. */
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

function notAccepted(
  question: Question,
  { reason, decidedBy }: Extract<Receipt, { status: "ignored" }>,
): CliFailure {
  const message =
    decidedBy === undefined
      ? `The decision was ignored: ${reason}.`
      : `Already decided by ${decidedBy}: ${callToText(question)}.`;
  return new CliFailure(exitCodes.refused, message);
}

function givenArguments(options: GivenOptions): Json {
  const json = textToJson(options.text("args") ?? "");
  if (json === undefined) throw new UsageError("--args must be JSON.", 'Use --args \'{"name": "value"}\'.');
  return json;
}
