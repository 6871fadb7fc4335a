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
    const [left, right] = [(await stateAt(log, a)).state, (await stateAt(log, b)).state];
    const conversation = diffLines(conversationLines(left), conversationLines(right));
    const isSame = found.a === undefined && found.b === undefined && found.state.length === 0;
    const showsAll = options.all === true;
    print(
      { isSame, conversation, ...found },
      [
        ...commonPartText(found, { a, b }, isSame),
        ...contentText(conversation, { a, b }),
        ...restText(found.state, { a, b }, showsAll),
      ].join("\n"),
    );
    const isEqual = showsAll ? isSame : conversation.every(({ side }) => side === "both");
    return isEqual ? exitCodes.answered : exitCodes.failed;
  },
});

function commonPartText(found: SessionDiff, { a, b }: SideNames, isSame: boolean): readonly string[] {
  const common = isSame
    ? `${a} and ${b} have the same records.`
    : `${b} begins with the first ${found.common} records of ${a}, apart from snapshots.`;
  if (found.a === undefined && found.b === undefined) return [common];
  return [common, "Then", nextInputText(a, found.a), nextInputText(b, found.b)];
}

const nextInputText = (id: string, input: AgentInput | undefined): string =>
  `  ${id}: ${input === undefined ? "ends" : oneLine(JSON.stringify(input))}`;
