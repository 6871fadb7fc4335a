import {
  askedText,
  type AgentState,
  type AgentUsage,
  effectsAt,
  sessionOwner,
  type ControlMove,
  type Position,
  type Question,
  type ToolCallRecord,
} from "@moora/agent";
import { scheduleToText } from "./schedule.ts";
import { questionsAt } from "@moora/agent/internal";
import { oneLine } from "@moora/agent-core-effects/internal";
import { isPaused, statusAt, type AgentFailure, type OpenCall } from "@moora/agent-core-state-machine";
import { openCallsOf, recordOf, rungText, type Ladder } from "@moora/agent-core-state-machine/internal";
import { exitCodes, type ExitCode } from "../cli-host.ts";
import type { Command } from "../command.ts";
import { contextOf, contextSections } from "../session/context-view.ts";
import { callToText } from "../session/open-question.ts";
import { closedErrorOf, closedToJson } from "../session/closed-session.ts";
import { reasonText } from "../questions/question-text.ts";
import { resumeCommand, sessionCommand, stateAtRecord, type SessionCall } from "../session/session-call.ts";
import { timeToText } from "../session/timeline.ts";

/** Shows a session at one of its records. */
export const showCommand: Command = sessionCommand({
  name: "show",
  usage: "<session>",
  summary: "Show a session: state, messages, open and decided calls, questions, usage.",
  options: ["at", "all", "context"],
  optionHelp: { all: "Show all of the application data." },
  async run(call) {
    const at = call.options.at;
    const position = await stateAtRecord(call, at);
    const { seq, state } = position;
    if (call.options.context === true) return await showContext(call, position);
    const questions = questionsAt(state);
    const closed = await closedErrorOf(call);
    const owner = at === undefined ? await ownerNow(call) : (state.owner ?? undefined);
    const next =
      at === undefined && owner === undefined && hasWork(state) ? await resumeCommand(call) : undefined;
    call.print(
      {
        id: call.id,
        seq,
        state,
        owner: owner ?? null,
        questions: questions.map((question) => questionToJson(call, question)),
        traceNotes: position.moves.filter(hasNote),
        ...closedToJson(closed),
      },
      [
        ...viewOf(call, { ...position, questions, owner, next }),
        ...section("closed", closed ? [closed.message] : []),
      ].join("\n"),
    );
    return exitCodes.answered;
  },
});

/** Shows only what the next request has and leaves out. */
async function showContext(call: SessionCall, position: Position): Promise<ExitCode> {
  const shown = await contextOf(call, position);
  const { seq } = position;
  const sections = contextSections(shown).flatMap(([title, lines]) => section(title, lines));
  call.print({ id: call.id, seq, ...shown }, [`${call.id} at record ${seq}`, ...sections].join("\n"));
  return exitCodes.answered;
}

interface Shown extends Position {
  readonly questions: readonly Question[];
  /** The process that runs the session now; for an earlier record, the one that ran it then. */
  readonly owner: string | undefined;
  /** The command that continues the session; undefined if it has no work, or a process runs it. */
  readonly next: string | undefined;
}

/** The process that runs the session now. A log that can only be read does not say. */
const ownerNow = ({ log, id, host }: SessionCall): Promise<string | undefined> =>
  sessionOwner(log, id, host).catch(() => "unknown");

/** Whether the state wants work that only a process can do: more than to wait for a person or for a time. */
const hasWork = (state: AgentState): boolean =>
  Object.values(effectsAt(state)).some(({ type }) => type !== "ask-human" && type !== "wait-until");

function viewOf(call: SessionCall, { seq, state, moves, questions, owner, next }: Shown): readonly string[] {
  const { control, loop, step, stepLimit } = state.reActContext;
  return [
    `${call.id} at record ${seq}${state.updatedAt === 0 ? "" : `, ${timeToText(state.updatedAt)}`}`,
    `state     ${statusAt(state)}, loop ${loop}, step ${step} of ${stepLimit}`,
    ...(control.type === "Error" ? [failureLine(control.failure)] : []),
    ...pauseLines(state),
    `owner     ${owner ?? `none${state.owner === null ? " yet" : `; last opened by ${state.owner}`}`}`,
    ...(next === undefined ? [] : [`next      waits for a process: ${next}`]),
    `usage     ${usageToText(state.usage)}`,
    ...(state.ladders ?? []).flatMap(ladderToLines),
    ...section(
      "messages",
      state.messages.map(({ role, content }) => `${role}: ${content}`),
    ),
    ...(state.dataStatus === null
      ? []
      : section(`data, version ${state.dataStatus.version}`, dataLines(call, state.data))),
    ...section("schedules", (state.schedules?.open ?? []).map(scheduleToText)),
    ...section("trace notes", moves.flatMap(noteToLines)),
    ...section(
      "open calls",
      openCallsOf(control).map((open) => openCallToText(state, open, owner !== undefined)),
    ),
    ...section("decided calls", Object.entries(state.toolCalls).flatMap(decidedToLines)),
    ...section(
      "questions",
      questions.map((question) => questionToText(call, question)),
    ),
  ];
}

const failureLine = ({ kind, message }: AgentFailure): string =>
  kind === "Cancelled" ? `reason    ${message}` : `failure   ${kind}: ${message}`;

/** The lines of application data that are shown without `--all`. */
const mostDataLines = 40;

function dataLines({ options }: SessionCall, data: unknown): readonly string[] {
  const lines = JSON.stringify(data, null, 2).split("\n");
  if (lines.length <= mostDataLines || options.all === true) return lines;
  const rest = (lines.length - mostDataLines).toLocaleString("en-US");
  return [...lines.slice(0, mostDataLines), `... ${rest} more lines; --all shows them.`];
}

function pauseLines({ paused }: AgentState): readonly string[] {
  if (paused == null) return [];
  const reason = paused.reason === undefined ? "" : `: ${oneLine(paused.reason)}`;
  return [`paused    since ${timeToText(paused.pausedAt)}${reason}`];
}

/** What requests to a model leave out after its provider has refused them. */
function ladderToLines(ladder: Ladder): readonly string[] {
  const text = rungText(ladder);
  return text === undefined ? [] : [`refused   ${ladder.model || "the model of the agent"}: ${text}`];
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

function openCallToText(state: AgentState, { id, attempt, status }: OpenCall, hasOwner: boolean): string {
  const { name = "", parameters = "", decision } = recordOf(state, id) ?? {};
  const decided =
    status.type === "running" && decision?.type === "approved" ? `approved by ${decision.by}, ` : "";
  return `${id} ${name} ${oneLine(parameters)}: ${decided}${statusText(state, status, hasOwner)}, attempt ${attempt}`;
}

/** A call that has ended, with who decided it. */
function decidedToLines([id, record]: readonly [string, ToolCallRecord]): readonly string[] {
  const { name, parameters, decision, result } = record;
  if (decision === undefined || result === null) return [];
  const end = oneLine(result.isSuccess ? result.content : result.error);
  return [`${id} ${name} ${oneLine(parameters)}: ${decision.type} by ${decision.by}, ended with: ${end}`];
}

function statusText(state: AgentState, status: OpenCall["status"], hasOwner: boolean): string {
  if (status.type !== "running") return status.type;
  if (status.started) return hasOwner ? "started" : "interrupted after its start";
  if (isPaused(state)) return "waits for the resume";
  return hasOwner ? "about to start" : "waits for a process";
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
