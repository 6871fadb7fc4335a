import type { AgentInput, AgentState } from "@moora/agent-core-state-machine";
import { digestOf, type ChainHead } from "@moora/event-log";
import type { LogHandle } from "./log-handle.ts";
import { isNews, snapshotVersion, type RestoredSession } from "./restore.ts";

/** A state and the position of the last record that it contains. */
export interface Fold {
  readonly state: AgentState;
  readonly at: ChainHead;
}

/** Saves folds of a session as snapshots, so that it opens quickly. They are a cache: a failure is reported, nothing more. */
export interface SnapshotKeeper {
  /** Records the newest fold and its last input. Saves it if enough records follow the last snapshot. */
  reached(fold: Fold, input: AgentInput): void;
  /** Saves the newest fold, unless only openings and snapshots follow the last one. */
  save(): Promise<void>;
}

export interface SnapshotOptions {
  readonly handle: LogHandle;
  readonly found: Pick<RestoredSession, "state" | "head" | "snapshotSeq" | "hasNews">;
  /** Appends the record that confirms a snapshot of the state after record `seq`; resolves when it is in the log. */
  readonly confirm: (seq: number, digest: string) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/** The minimum number of records between two snapshots: folding fewer again is fast. */
const fewRecords = 1_000;

export function snapshotKeeper({ handle, found, confirm, onError }: SnapshotOptions): SnapshotKeeper {
  let newest: Fold = { state: found.state, at: found.head };
  let { hasNews } = found;
  let tried = found.snapshotSeq;
  let saving: Promise<void> | undefined;

  const save = async (): Promise<void> => {
    const { state, at } = newest;
    tried = at.seq;
    hasNews = false;
    try {
      const body = JSON.stringify(state);
      const bodyDigest = digestOf(body);
      // The record comes first: a snapshot that no record confirms is not used, and verification reports it.
      await confirm(at.seq, bodyDigest);
      await handle.log.saveSnapshot({ ...at, version: snapshotVersion, body, bodyDigest });
    } catch (error) {
      hasNews = true;
      onError(error);
    }
  };

  const saveNext = (): Promise<void> => (saving ??= save().finally(() => (saving = undefined)));

  return {
    reached(fold, input) {
      newest = fold;
      hasNews ||= isNews(input);
      // The distance grows with the log, so that all snapshots together cost no more than a few folds of it.
      if (fold.at.seq - tried >= Math.max(fewRecords, tried / 2)) void saveNext();
    },
    async save() {
      await saving;
      if (hasNews) await saveNext();
    },
  };
}
