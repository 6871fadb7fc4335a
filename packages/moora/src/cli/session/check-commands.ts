import { diffSessions, verifySession, type AgentInput, type Difference } from "@moora/agent";
import { exitCodes } from "../cli-host.ts";
import type { Command } from "../command.ts";
import { oneLine } from "../one-line.ts";
import { noSession, sessionCommand } from "./session-call.ts";

/** Replays a session and holds each record against its digest. */
export const verifyCommand: Command = sessionCommand({
  name: "verify",
  usage: "<session>",
  summary: "Replay a session; name the first record that is not what it was.",
  async run({ log, id, say }) {
    const report = await verifySession(log, id);
    if (report.ok) {
      say({ id, ...report }, `${id} is as it was written: ${report.seq} records, digest ${report.digest}.`);
      return exitCodes.answered;
    }
    const { seq, reason, message, changes = [] } = report;
    const found = changes.map((change) => `  ${oneLine(JSON.stringify(change))}`);
    say(
      { id, ...report },
      [
        `${id}, record ${seq}: ${reason}. ${message}`,
        ...(found.length === 0 ? [] : ["It changes now:", ...found]),
      ].join("\n"),
    );
    return exitCodes.failed;
  },
});

/** Where two sessions part. */
export const diffCommand: Command = sessionCommand({
  name: "diff",
  usage: "<session> <other>",
  summary: "Compare two sessions: where they part, and how they end.",
  async run({ log, words: [a = "", b = ""], say, place }) {
    for (const id of [a, b]) if ((await log.open(id)) === undefined) throw noSession(id, place);
    const found = await diffSessions({ log, id: a }, { log, id: b });
    const isSame = found.a === undefined && found.b === undefined && found.state.length === 0;
    say(
      { isSame, ...found },
      [
        isSame
          ? `${a} and ${b} say the same in all of their ${found.common} records.`
          : `${a} and ${b} say the same in their first ${found.common} records.`,
        ...(found.a === undefined && found.b === undefined
          ? []
          : ["Then", ...nextOf(a, found.a), ...nextOf(b, found.b)]),
        ...differencesToLines(found.state, a, b),
      ].join("\n"),
    );
    return isSame ? exitCodes.answered : exitCodes.failed;
  },
});

const nextOf = (id: string, input: AgentInput | undefined): readonly string[] => [
  `  ${id}: ${input === undefined ? "ends" : oneLine(JSON.stringify(input))}`,
];

/** Differences of two states, for people. */
export const differencesToLines = (
  differences: readonly Difference[],
  a: string,
  b: string,
): readonly string[] =>
  differences.length === 0
    ? []
    : [
        "In the end these differ",
        ...differences.flatMap(({ path, a: left, b: right }) => [
          `  ${path}`,
          `    ${a}: ${valueToText(left)}`,
          `    ${b}: ${valueToText(right)}`,
        ]),
      ];

const valueToText = (value: unknown): string => (value === undefined ? "-" : oneLine(JSON.stringify(value)));
