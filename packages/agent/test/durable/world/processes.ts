import type { EventLog } from "@moora/event-log";
import { openSession, type DurableSession, type OpenOptions } from "../../../src/index.ts";
import type { Counter } from "./counter.ts";
import { driveToEnd } from "./drive.ts";
import { Died, Life, mortalLog, type Death } from "./mortal-log.ts";
import type { Transcript } from "./transcripts.ts";
import type { VirtualClock } from "./virtual-clock.ts";

/** What a process finds when it is started. */
export interface Scene {
  readonly log: EventLog;
  readonly id: string;
  readonly counter: Counter;
  readonly clock: VirtualClock;
}

export interface Ran {
  /** Undefined when the process died while it opened. */
  readonly session: DurableSession | undefined;
  /** How often it called the model. */
  readonly llmCalls: number;
  readonly died: boolean;
}

/**
 * A process that opens a session and runs a transcript to its end, or until it dies. The dead close nothing: their
 * promises, watchers and leases are left as they were.
 */
export async function runProcess(
  { log, id, counter, clock }: Scene,
  transcript: Transcript,
  death?: Death,
  options: Partial<OpenOptions> = {},
): Promise<Ran> {
  const life = new Life();
  const agent = transcript.agent({ counter, life });
  let llmCalls = 0;
  const { llm } = agent.parts;
  const counting = {
    ...agent,
    parts: {
      ...agent.parts,
      llm: {
        name: llm.name,
        call: (...args: Parameters<typeof llm.call>) => {
          llmCalls += life.isOver ? 0 : 1;
          return llm.call(...args);
        },
      },
    },
  };
  let session: DurableSession | undefined;
  try {
    session = await openSession(counting, {
      log: mortalLog(log, life, death),
      id,
      clock: life.clock(clock),
      isOwnerGone: () => true,
      ...options,
    });
    await driveToEnd(session, transcript, clock, () => life.isOver);
  } catch (error) {
    if (!(error instanceof Died) && !life.isOver) throw error;
  }
  return { session, llmCalls, died: life.isOver };
}
