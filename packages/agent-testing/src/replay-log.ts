import { readFile } from "node:fs/promises";
import { importSession, readSession, verifySession, type SessionHeader } from "@moora/agent";
import { initialAgentState, type AgentInput, type AgentState } from "@moora/agent-core-state-machine";
import { LogError, memoryLog } from "@moora/event-log";
import { keepLaws, type LawsOptions } from "./laws/keep-laws.ts";

/** A recorded session after it was replayed: what it began with, what came in, and where it led. */
export interface ReplayedLog {
  readonly header: SessionHeader;
  readonly inputs: readonly AgentInput[];
  readonly state: AgentState;
  /** The edges that were walked, as `Planning --LlmToolCall--> Acting`. */
  readonly walk: readonly string[];
}

/** Thrown for a recorded session that comes to something else today than when it was recorded. */
export class ReplayDiffers extends Error {
  override readonly name = "ReplayDiffers";
  /** The first record that changes something else. */
  readonly seq: number;

  constructor(seq: number, message: string) {
    super(message);
    this.seq = seq;
  }
}

/**
 * Replays an exported session as a test: `it("still goes so", () => replayLog("runs/refund.jsonl"))`. Every record has to
 * change what it changed when it was written, and every step is held to the laws. Rejects with `ReplayDiffers`,
 * `LawBroken`, or `LogError` for a file that is damaged, cut, or no exported session.
 */
export const replayLog = async (file: string, laws: Omit<LawsOptions, "from"> = {}): Promise<ReplayedLog> =>
  await replayPortable(await readFile(file, "utf8"), laws);

/** The same for the text of an exported session. */
export async function replayPortable(
  text: string,
  laws: Omit<LawsOptions, "from"> = {},
): Promise<ReplayedLog> {
  const log = memoryLog();
  const { id } = await importSession(log, text);
  const report = await verifySession(log, id);
  if (!report.ok && report.reason === "differs") throw new ReplayDiffers(report.seq, report.message);
  if (!report.ok) throw new LogError("LogCorrupt", report.message, { seq: report.seq });
  const { header, inputs } = await readSession(log, id);
  const { config, tools } = header;
  const keeper = keepLaws({ replays: false, ...laws, from: initialAgentState({ config, tools }) });
  for (const input of inputs) keeper.apply(input);
  const walk = keeper.moves.map(({ from, event, to }) => `${from} --${event}--> ${to}`);
  return { header, inputs, state: keeper.state, walk };
}
