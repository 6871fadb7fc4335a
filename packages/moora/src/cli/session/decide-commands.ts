import { InputRefused, type Decision, type DurableSession, type Question, type Receipt } from "@moora/agent";
import { toolOf } from "@moora/agent-core-state-machine";
import { textToJson, type Json } from "@moora/llm";
import { CliFailure } from "../cli-failure.ts";
import { exitCodes, type ExitCode } from "../cli-host.ts";
import type { Command } from "../command.ts";
import type { OptionName } from "../options.ts";
import { UsageError } from "../usage-error.ts";
import { callToText, openQuestion } from "./open-question.ts";
import { openRecorded } from "./open-recorded.ts";
import { argumentsProblem } from "./recorded-agent.ts";
import { commandFor, sessionCommand, type SessionCall } from "./session-call.ts";

interface Verb extends Pick<Command, "name" | "usage" | "summary"> {
  readonly done: string;
  readonly options: readonly OptionName[];
  /** Which questions it is an answer to. */
  readonly settles: (question: Question) => boolean;
  /** What may be meant, the likeliest first: the next one is tried where one does not fit. */
  readonly meanings: (call: SessionCall) => readonly Decision[];
}

const approval: Verb = {
  name: "approve",
  usage: "<session> [call]",
  summary: "Let a call run that waits for it.",
  done: "Approved",
  options: ["args", "as"],
  settles: ({ about }) => about !== "answer",
  meanings: ({ options }) => [
    options.has("args") ? { approve: givenArguments(options.text("args")) } : "approve",
  ],
};

const rejection: Verb = {
  name: "reject",
  usage: "<session> [call]",
  summary: "Refuse a call that waits for it; the model reads why.",
  done: "Rejected",
  options: ["reason", "as"],
  settles: () => true,
  meanings: ({ options }) => [{ reject: options.text("reason") ?? "" }],
};

const reply: Verb = {
  name: "answer",
  usage: "<session> <call> <text...>",
  summary: "Answer a question of the agent's own, with text or JSON.",
  done: "Answered",
  options: ["as"],
  settles: ({ about }) => about === "answer",
  meanings({ words }) {
    const text = words.slice(2).join(" ");
    const json = textToJson(text);
    return [...(json === undefined ? [] : [{ answer: json }]), { answer: text }];
  },
};

/** The commands that decide something for an agent, which may run anywhere or nowhere. */
export const decideCommands: readonly Command[] = [approval, rejection, reply].map(
  ({ done, settles, meanings, ...row }) =>
    sessionCommand({
      ...row,
      run: (call) => decide(call, { done, settles, meanings }),
    }),
);

async function decide(
  call: SessionCall,
  { done, settles, meanings }: Pick<Verb, "done" | "settles" | "meanings">,
): Promise<ExitCode> {
  const decisions = meanings(call);
  await using session = await openRecorded(call, "post");
  const asked = { id: call.id, questions: session.questions(), state: session.current() };
  const question = openQuestion(asked, call.words[1], settles);
  const [receipt, decision] = await firstThatFits(session, question, decisions, call);
  if (receipt.status === "ignored") throw notTaken(question, receipt);
  const { toolCallId, name } = question;
  call.say(
    { toolCallId, name, decision, seq: receipt.seq },
    `${done}: ${callToText(question)}. It is record ${receipt.seq}.`,
  );
  call.screen.aside(`If nobody runs the session: ${commandFor(`run --session ${call.id}`, call)}`);
  return exitCodes.answered;
}

/** Gives the decisions one after the other until one fits the tool or the schema of the question. */
async function firstThatFits(
  session: DurableSession,
  question: Question,
  [decision = "approve", ...others]: readonly Decision[],
  call: SessionCall,
): Promise<readonly [Receipt, Decision]> {
  await checkArguments(session, question, decision);
  try {
    const by = call.options.text("as") ?? call.host.user;
    return [await session.decide(question, decision, by), decision];
  } catch (error) {
    if (!(error instanceof InputRefused) || others.length === 0) throw error;
    return await firstThatFits(session, question, others, call);
  }
}

/** Changed arguments have to fit the tool: nobody who has its code need be there. */
async function checkArguments(
  session: DurableSession,
  { name }: Question,
  decision: Decision,
): Promise<void> {
  const tool = toolOf(session.current(), name);
  if (tool === undefined || typeof decision !== "object" || !("approve" in decision)) return;
  const problem = await argumentsProblem(JSON.stringify(decision.approve), tool);
  if (problem !== undefined) throw new CliFailure(exitCodes.refused, `That does not fit: ${problem}`);
}

function notTaken(
  question: Question,
  { reason, decidedBy }: Extract<Receipt, { status: "ignored" }>,
): CliFailure {
  const why =
    decidedBy === undefined
      ? `The decision was not taken: ${reason}.`
      : `It was already decided by ${decidedBy}: ${callToText(question)}.`;
  return new CliFailure(exitCodes.refused, why);
}

function givenArguments(text: string | undefined): Json {
  const json = textToJson(text ?? "");
  if (json === undefined) throw new UsageError("--args is no JSON.", 'Say --args \'{"name": "value"}\'.');
  return json;
}
