import { diffSessions, stateAt, type AgentInput, type SessionDiff } from "@moora/agent";
import { oneLine } from "@moora/agent-core-effects/internal";
import { exitCodes } from "../cli-host.ts";
import type { Command } from "../command.ts";
import { compare } from "../session/comparison.ts";
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
    const comparison = compare({ a: left, b: right, names: { a, b } });
    const { conversation } = comparison;
    const isSame = found.a === undefined && found.b === undefined && found.state.length === 0;
    const showsAll = options.all === true;
    print(
      { isSame, conversation, ...found },
      [...commonPartText(found, { a, b }, isSame), ...comparison.text(found.state, showsAll)].join("\n"),
    );
    return (showsAll ? isSame : comparison.isSame) ? exitCodes.answered : exitCodes.failed;
  },
});

function commonPartText(
  found: SessionDiff,
  { a, b }: { readonly a: string; readonly b: string },
  isSame: boolean,
): readonly string[] {
  const common = isSame
    ? `${a} and ${b} have the same records.`
    : `${b} begins with the first ${found.common} records of ${a}, apart from snapshots.`;
  if (found.a === undefined && found.b === undefined) return [common];
  return [common, "Then", nextInputText(a, found.a), nextInputText(b, found.b)];
}

const nextInputText = (id: string, input: AgentInput | undefined): string =>
  `  ${id}: ${input === undefined ? "ends" : oneLine(JSON.stringify(input))}`;
