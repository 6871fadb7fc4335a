import {
  askedText,
  type AgentState,
  type AgentUsage,
  type ControlMove,
  type Position,
  type Question,
} from "@moora/agent";
import { questionsAt } from "@moora/agent/internal";
import { oneLine } from "@moora/agent-core-effects/internal";
import { controlName, isPaused, type OpenCall } from "@moora/agent-core-state-machine";
import { openCallsOf, recordOf } from "@moora/agent-core-state-machine/internal";
import { exitCodes } from "../cli-host.ts";
import type { Command } from "../command.ts";
import { callToText } from "../session/open-question.ts";
import { closedErrorOf, closedToJson } from "../session/closed-session.ts";
import { reasonText } from "../questions/question-text.ts";
import { positionOf, sessionCommand, stateAtRecord, type SessionCall } from "../session/session-call.ts";
import { timeToText } from "../session/timeline.ts";

/** Shows a session at one of its records. */
export const showCommand: Command = sessionCommand({
  name: "show",
  usage: "<session>",
  summary: "Show a session: state, messages, open calls, questions, usage.",
  options: ["at", "all"],
  optionHelp: { all: "Show all of the application data." },
  async run(call) {
    const at = positionOf(call.options, "at");
    const position = await stateAtRecord(call, at);
    const { seq, state } = position;
    const questions = questionsAt(state);
    const closed = await closedErrorOf(call);
    call.print(
      {
        id: call.id,
        seq,
        state,
        questions: questions.map((question) => questionToJson(call, question)),
        traceNotes: position.moves.filter(hasNote),
        ...closedToJson(closed),
      },
      [...viewOf(call, position, questions), ...section("closed", closed ? [closed.message] : [])].join("\n"),
    );
    return exitCodes.answered;
  },
});

function viewOf(
  call: SessionCall,
  { seq, state, moves }: Position,
  questions: readonly Question[],
): readonly string[] {
  const { control, loop, step, stepLimit } = state.reActContext;
  return [
    `${call.id} at record ${seq}${state.updatedAt === 0 ? "" : `, ${timeToText(state.updatedAt)}`}`,
    `state     ${controlName(control)}, loop ${loop}, step ${step} of ${stepLimit}`,
    ...(control.type === "Error" ? [`failure   ${control.failure.kind}: ${control.failure.message}`] : []),
    ...pauseLines(state),
    `owner     ${state.owner ?? "none yet"}`,
    `usage     ${usageToText(state.usage)}`,
    ...section(
      "messages",
      state.messages.map(({ role, content }) => `${role}: ${content}`),
    ),
    ...(state.dataStatus === null
      ? []
      : section(`data, version ${state.dataStatus.version}`, dataLines(call, state.data))),
    ...section("trace notes", moves.flatMap(noteToLines)),
    ...section(
      "open calls",
      openCallsOf(control).map((open) => openCallToText(state, open)),
    ),
    ...section(
      "questions",
      questions.map((question) => questionToText(call, question)),
    ),
  ];
}

/** The lines of application data that are shown without `--all`. */
const mostDataLines = 40;

function dataLines({ options }: SessionCall, data: unknown): readonly string[] {
  const lines = JSON.stringify(data, null, 2).split("\n");
  if (lines.length <= mostDataLines || options.has("all")) return lines;
  const rest = (lines.length - mostDataLines).toLocaleString("en-US");
  return [...lines.slice(0, mostDataLines), `... ${rest} more lines; --all shows them.`];
}

function pauseLines({ paused }: AgentState): readonly string[] {
  if (paused == null) return [];
  const reason = paused.reason === undefined ? "" : `: ${oneLine(paused.reason)}`;
  return [`paused    since ${timeToText(paused.pausedAt)}${reason}`];
}

const section = (title: string, lines: readonly string[]): readonly string[] =>
  lines.length === 0 ? [] : ["", title, ...lines.map((line) => `  ${line.replaceAll("\n", "\n  ")}`)];

const hasNote = ({ note }: ControlMove): boolean => note !== undefined;

function noteToLines({ loop, step, from, event, note }: ControlMove): readonly string[] {
  if (note === undefined) return [];
  const { text, data } = note;
  const place = `loop ${loop}, step ${step}, ${from} ${event}`;
  return [`${place}: ${text}${data === undefined ? "" : ` ${JSON.stringify(data)}`}`];
}

const usageToText = ({ inputTokens, outputTokens, cost = 0 }: AgentUsage): string =>
  `${inputTokens} tokens in, ${outputTokens} out${cost === 0 ? "" : `, cost ${cost}`}`;

function openCallToText(state: AgentState, { id, attempt, status }: OpenCall): string {
  const { name = "", parameters = "" } = recordOf(state, id) ?? {};
  return `${id} ${name} ${oneLine(parameters)}: ${statusText(state, status)}, attempt ${attempt}`;
}

function statusText(state: AgentState, status: OpenCall["status"]): string {
  if (status.type !== "running") return status.type;
  if (status.started) return "started";
  return isPaused(state) ? "waits for the resume" : status.type;
}

function questionToText({ hints, id }: SessionCall, question: Question): string {
  const { about, due } = question;
  const until = due === null ? "" : `, until ${timeToText(due)}`;
  const text = about === "answer" ? askedText(question).text : callToText(question);
  const why = about === "approval" ? [reasonText(question)] : [];
  return [`${labels[about]} ${text}${until}`, ...why, ...hints.decisionCommands(id, question)].join("\n");
}

const labels: Readonly<Record<Question["about"], string>> = {
  approval: "Approve?",
  outcome: "Interrupted, outcome unknown:",
  answer: "The agent asks:",
};

const questionToJson = ({ hints, id }: SessionCall, question: Question): object => ({
  ...question,
  ...(question.about === "answer" && { question: askedText(question).text }),
  commands: hints.decisionCommands(id, question),
});
