import { diffSessions, stateAt, verifySession, type AgentInput, type SessionDiff } from "@moora/agent";
import { exitCodes } from "../cli-host.ts";
import type { Command } from "../command.ts";
import { oneLine } from "../one-line.ts";
import { conversationLines } from "./conversation-lines.ts";
import { differencesToText, diffLines, type LineDifference } from "./line-diff.ts";
import { noSession, sessionCommand } from "./session-call.ts";
import { stateDifferences } from "./state-differences.ts";

/** Replays a session and compares each record with its digest. */
export const verifyCommand: Command = sessionCommand({
  name: "verify",
  usage: "<session>",
  summary: "Replay a session; name the first record that is not as written.",
  async run({ log, id, print }) {
    const report = await verifySession(log, id);
    if (report.ok) {
      const { seq, digest, unfinishedBytes } = report;
      const intact = `${id} is intact: ${seq} records, digest ${digest}.`;
      const unfinished =
        unfinishedBytes === 0
          ? []
          : [
              `An append after record ${seq} was not finished (${unfinishedBytes} bytes). It was never confirmed.`,
            ];
      print({ id, ...report }, [intact, ...unfinished].join("\n"));
      return exitCodes.answered;
    }
    const { seq, reason, message, changes = [] } = report;
    const found = changes.map((change) => `  ${oneLine(JSON.stringify(change))}`);
    print(
      { id, ...report },
      [
        `${id}, record ${seq}: ${reason}. ${message}`,
        ...(found.length === 0 ? [] : ["It changes now:", ...found]),
      ].join("\n"),
    );
    return exitCodes.failed;
  },
});

/** Compares two sessions. */
export const diffCommand: Command = sessionCommand({
  name: "diff",
  usage: "<session> <other>",
  summary: "Compare two sessions: messages, calls and answers.",
  options: ["all"],
  async run({ log, words: [a = "", b = ""], options, print, place }) {
    for (const id of [a, b]) if ((await log.open(id)) === undefined) throw noSession(id, place);
    const found = await diffSessions({ log, id: a }, { log, id: b });
    const [left, right] = [(await stateAt(log, a)).state, (await stateAt(log, b)).state];
    const conversation = diffLines(conversationLines(left), conversationLines(right));
    const isSame = found.a === undefined && found.b === undefined && found.state.length === 0;
    const showsAll = options.has("all");
    print(
      { isSame, conversation, ...found },
      [
        ...partingText(found, { a, b }, isSame),
        ...contentText(conversation, { a, b }),
        ...restText(found.state, { a, b }, showsAll),
      ].join("\n"),
    );
    const isEqual = showsAll ? isSame : conversation.every(({ side }) => side === "both");
    return isEqual ? exitCodes.answered : exitCodes.failed;
  },
});

interface Names {
  readonly a: string;
  readonly b: string;
}

function partingText(found: SessionDiff, { a, b }: Names, isSame: boolean): readonly string[] {
  if (isSame) return [`${a} and ${b} have the same ${found.common} records.`];
  const isEnd = found.a === undefined && found.b === undefined;
  return [
    `${a} and ${b} have the same first ${found.common} records.`,
    ...(isEnd ? [] : ["Then", nextText(a, found.a), nextText(b, found.b)]),
  ];
}

const nextText = (id: string, input: AgentInput | undefined): string =>
  `  ${id}: ${input === undefined ? "ends" : oneLine(JSON.stringify(input))}`;

/** What differs in messages, calls and answers, for people. */
export const contentText = (conversation: readonly LineDifference[], names: Names): readonly string[] =>
  conversation.every(({ side }) => side === "both")
    ? ["Messages, calls and answers are the same."]
    : ["Messages, calls and answers", ...differencesToText(conversation, names)];

/** The other differences of two states, or how many there are. */
export function restText(
  differences: SessionDiff["state"],
  names: Names,
  showsAll: boolean,
): readonly string[] {
  if (differences.length === 0) return [];
  if (showsAll) return ["All differences of the states", ...stateDifferences(differences, names)];
  const fields = differences.length === 1 ? "1 field" : `${differences.length} fields`;
  return [`The states differ in ${fields}. To show them: --all`];
}
