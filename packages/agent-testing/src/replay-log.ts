import { readFile } from "node:fs/promises";
import { headerToState, readSession, verifySession, type Agent, type SessionHeader } from "@moora/agent";
import { importForReading } from "@moora/agent/internal";
import { checkOptions, type OptionForms } from "@moora/agent-core-effects/internal";
import type { AgentInput, AgentState } from "@moora/agent-core-state-machine";
import { LogError, memoryLog } from "@moora/event-log";
import { compareAgent, shown, type AgentDifference } from "./compare-agent.ts";
import { keepLaws, lawsForms, type LawsOptions } from "./laws/keep-laws.ts";

/** A recorded session after its replay: its initial state, its inputs and its final state. */
export interface ReplayedLog {
  readonly header: SessionHeader;
  readonly inputs: readonly AgentInput[];
  readonly state: AgentState;
  /** The edges that were walked, as `Planning --LlmToolCall--> Acting`. */
  readonly walk: readonly string[];
}

/** Options of `replayLog`. */
export interface ReplayOptions extends Omit<LawsOptions, "from"> {
  /**
   * An agent to compare with the recording: its effects and requests must equal the recorded ones at every position;
   * `ReplayDiffers` lists the differences. Default: none, the log is only folded.
   */
  readonly agent?: Agent<unknown>;
}

const replayForms: OptionForms<ReplayOptions> = { ...lawsForms, agent: "object" };

/** Thrown when the replay of a recorded session differs from the recording. */
export class ReplayDiffers extends Error {
  override readonly name = "ReplayDiffers";
  /** The first record whose replay differs, or after which the agent wants other effects. */
  readonly seq: number;
  /** The differences between the given agent and the recording; empty if the log itself differs. */
  readonly differences: readonly AgentDifference[];

  constructor(seq: number, message: string, differences: readonly AgentDifference[] = []) {
    super(message);
    this.seq = seq;
    this.differences = differences;
  }
}

/**
 * Replays an exported session as a test: `it("still replays", () => replayLog("runs/refund.jsonl"))`. Every record must
 * result in the recorded changes, and every step must keep the laws. With `agent`, the effects and requests of that agent
 * must be the recorded ones. Rejects with `ReplayDiffers`, `LawBroken`, or `LogError` for a file that is damaged, truncated,
 * or not an exported session, and with `BuildError` for an unknown or invalid option.
 */
export async function replayLog(file: string, options: ReplayOptions = {}): Promise<ReplayedLog> {
  checkOptions("replayLog", options, replayForms);
  return await replayPortable(await readFile(file, "utf8"), options);
}

/** Like `replayLog`, for the text of an exported session. */
export async function replayPortable(text: string, options: ReplayOptions = {}): Promise<ReplayedLog> {
  checkOptions("replayPortable", options, replayForms);
  const { agent, ...laws } = options;
  const log = memoryLog();
  const id = await importForReading(log, text);
  const report = await verifySession(log, id);
  if (!report.ok && report.reason === "differs") throw new ReplayDiffers(report.seq, report.message);
  if (!report.ok) throw new LogError("LogCorrupt", report.message, { seq: report.seq });
  const { header, inputs } = await readSession(log, id);
  const from = headerToState(header);
  const keeper = keepLaws({ replays: false, ...laws, from });
  for (const input of inputs) keeper.apply(input);
  if (agent !== undefined) checkAgent(await compareAgent(agent, from, inputs));
  const walk = keeper.moves.map(({ from: at, event, to }) => `${at} --${event}--> ${to}`);
  return { header, inputs, state: keeper.state, walk };
}

function checkAgent(differences: readonly AgentDifference[]): void {
  const [first] = differences;
  if (first === undefined) return;
  const lines = differences.map(
    ({ seq, path, a, b }) => `  after record ${seq}, ${path}: recorded ${shown(a)}, now ${shown(b)}`,
  );
  throw new ReplayDiffers(
    first.seq,
    ["The agent wants other effects or sends other requests than the recording:", ...lines].join("\n"),
    differences,
  );
}
