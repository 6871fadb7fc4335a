import { diffSessions, stateAt, type AgentInput, type SessionDiff } from "@moora/agent";
import { oneLine } from "@moora/agent-core-effects/internal";
import { exitCodes } from "../cli-host.ts";
import type { Command } from "../command.ts";
import { contentText, restText, type SideNames } from "../session/comparison-text.ts";
import { conversationLines } from "../session/conversation-lines.ts";
import { diffLines } from "../session/line-diff.ts";
import { sessionCommand, unknownSessionError } from "../session/session-call.ts";

/** Compares two sessions. */
export const diffCommand: Command = sessionCommand({
  name: "diff",
  usage: "<session> <other>",
  summary: "Compare two sessions: messages, calls and answers.",
  options: ["all"],
  async run({ log, args: [a = "", b = ""], hints, options, print, target }) {
    for (const id of [a, b])
      if ((await log.open(id)) === undefined) throw unknownSessionError(id, { target, hints });
    const found = await diffSessions({ log, id: a }, { log, id: b });
    // Records of snapshots do not count, and each session has its own.
    const { common: commonInB } = await diffSessions({ log, id: b }, { log, id: a });
    const [left, right] = [(await stateAt(log, a)).state, (await stateAt(log, b)).state];
    const conversation = diffLines(conversationLines(left), conversationLines(right));
    const isSame = found.a === undefined && found.b === undefined && found.state.length === 0;
    const showsAll = options.has("all");
    print(
      { isSame, conversation, ...found },
      [
        ...commonPartText(found, { a, b }, isSame, commonInB),
        ...contentText(conversation, { a, b }),
        ...restText(found.state, { a, b }, showsAll),
      ].join("\n"),
    );
    const isEqual = showsAll ? isSame : conversation.every(({ side }) => side === "both");
    return isEqual ? exitCodes.answered : exitCodes.failed;
  },
});

function commonPartText(
  found: SessionDiff,
  { a, b }: SideNames,
  isSame: boolean,
  commonInB: number,
): readonly string[] {
  const isEnd = found.a === undefined && found.b === undefined;
  const first = isSame ? "" : "first ";
  const common =
    found.common === commonInB
      ? `${a} and ${b} have the same ${first}${commonInB} records.`
      : `The ${first}${found.common} records of ${a} and the ${first}${commonInB} of ${b} are the same, apart from snapshots.`;
  if (isEnd) return [common];
  return [common, "Then", nextInputText(a, found.a), nextInputText(b, found.b)];
}

const nextInputText = (id: string, input: AgentInput | undefined): string =>
  `  ${id}: ${input === undefined ? "ends" : oneLine(JSON.stringify(input))}`;
