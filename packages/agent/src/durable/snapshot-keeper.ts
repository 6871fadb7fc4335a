import type { AgentState } from "@moora/agent-core-state-machine";
import type { ChainHead } from "@moora/event-log";
import type { LogHandle } from "./log-handle.ts";
import { snapshotVersion } from "./restored.ts";

/** A state and the record that led to it. */
export interface Fold {
  readonly state: AgentState;
  readonly at: ChainHead;
}

/** Saves folds of a session, so that it opens quickly. They are only a cache: what fails is told, and harms nothing. */
export interface SnapshotKeeper {
  /** The newest fold; saved at once where much has come since the last one. */
  reached(fold: Fold): void;
  /** Saves the newest fold. */
  save(): Promise<void>;
}

/** Folding so many records again is nothing. */
const fewRecords = 1_000;

export function snapshotKeeper(
  handle: LogHandle,
  start: Fold,
  savedSeq: number,
  onError: (error: unknown) => void,
): SnapshotKeeper {
  let newest = start;
  let saved = savedSeq;
  let saving: Promise<void> | undefined;

  const save = async (): Promise<void> => {
    const { state, at } = newest;
    if (at.seq === saved) return;
    saved = at.seq;
    try {
      await handle.log.saveSnapshot({ ...at, version: snapshotVersion, body: JSON.stringify(state) });
    } catch (error) {
      onError(error);
    }
  };

  const saveNext = (): Promise<void> => (saving ??= save().finally(() => (saving = undefined)));

  return {
    reached(fold) {
      newest = fold;
      // Ever further apart, so that all snapshots together cost no more than a few foldings of the log.
      if (fold.at.seq - saved >= Math.max(fewRecords, saved / 2)) void saveNext();
    },
    async save() {
      await saving;
      await saveNext();
    },
  };
}
