import type { Decision, DurableSession, Question, Receipt } from "@moora/agent";
import { toolOf } from "@moora/agent-core-state-machine/internal";
import { CliFailure, usageError } from "../cli-failure.ts";
import { exitCodes, type ExitCode } from "../cli-host.ts";
import type { Command } from "../command.ts";
import { nearestHint, type OptionName, type Options } from "../options.ts";
import { decideFirst, textToAnswers, type Decisions } from "../questions/line-to-reply.ts";
import { callToText, openQuestion } from "../session/open-question.ts";
import { attachSession } from "../session/attach-session.ts";
import { argumentsProblem } from "../session/recorded-agent.ts";
import { resumeCommand, sessionCommand, type SessionCall } from "../session/session-call.ts";

interface DecideCommand extends Pick<Command, "name" | "usage" | "summary"> {
  readonly done: string;
  readonly options: readonly OptionName[];
  /** The questions that the command decides. */
  readonly about: readonly Question["about"][];
  /** The decisions that the arguments may mean, most likely first: the first that fits the question counts. */
  readonly decisions: (call: SessionCall) => Decisions;
}

/** The commands that decide a question of a session, whether or not a process runs it: one row each. */
const rows: readonly DecideCommand[] = [
  {
    name: "approve",
    usage: "<session> [call]",
    summary: "Approve a tool call.",
    done: "Approved",
    options: ["args", "as"],
    about: ["approval"],
    decisions: ({ options }) => [options.args === undefined ? "approve" : { approve: options.args }],
  },
  {
    name: "reject",
    usage: "<session> [call]",
    summary: "Reject a tool call, or a question of the agent.",
    done: "Rejected",
    options: ["reason", "as"],
    about: ["approval", "answer"],
    decisions: ({ options }) => [{ reject: options.reason ?? "" }],
  },
  {
    name: "answer",
    usage: "<session> <call> <text...>",
    summary: "Answer a question of the agent, with text or JSON.",
    done: "Answered",
    options: ["as"],
    about: ["answer"],
    decisions: ({ args }) => textToAnswers(args.slice(2).join(" ")),
  },
  {
    name: "settle",
    usage: "<session> <call> <outcome>",
    summary: "Settle an interrupted call: run-again, worked, failed or unknown.",
    done: "Settled",
    options: ["result", "reason", "as"],
    about: ["outcome"],
    decisions: ({ args: [, , outcome = ""], options }) => [outcomeToDecision(outcome, options)],
  },
];

export const decisionCommands: readonly Command[] = rows.map(({ done, about, decisions, ...row }) =>
  sessionCommand({
    ...row,
    optionHelp: { json: "Print the decision as one JSON object." },
    run: (call) => decide(call, { done, about, decisions }),
  }),
);

/** Throws `CliFailure` for an unknown outcome, and for an option that does not fit. */
function outcomeToDecision(outcome: string, { result, reason }: Options): Decision {
  const unfit = (name: string, outcomes: string): CliFailure =>
    usageError(`--${name} cannot be used with "${outcome}".`, `It is for ${outcomes}.`);
  if (result !== undefined && outcome !== "worked") throw unfit("result", "worked");
  if (reason !== undefined && (outcome === "worked" || outcome === "run-again"))
    throw unfit("reason", "failed and unknown");
  switch (outcome) {
    case "run-again":
      return { outcome };
    case "worked":
      return { outcome, result: result ?? "" };
    case "failed":
    case "unknown":
      return { outcome, ...(reason !== undefined && { reason }) };
    default:
      throw usageError(
        `Unknown outcome "${outcome}".`,
        nearestHint(outcome, ["run-again", "worked", "failed", "unknown"]),
      );
  }
}

async function decide(
  call: SessionCall,
  { done, about, decisions }: Pick<DecideCommand, "done" | "about" | "decisions">,
): Promise<ExitCode> {
  const { id, args, hints } = call;
  const candidates = decisions(call);
  await using session = await attachSession(call, "post");
  const open = { id, hints, questions: session.questions(), state: session.current() };
  const question = openQuestion(open, args[1], about);
  await checkArguments(session, question, candidates[0]);
  const by = call.options.as ?? call.host.user;
  const [receipt, decision] = await decideFirst((made) => session.decide(question, made, by), candidates);
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
