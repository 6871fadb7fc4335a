import { requestProblems } from "@moora/agent-testing";
import { digestOf, type EventLog } from "@moora/event-log";
import type { LlmCaller } from "@moora/llm";
import { openSession, type DurableSession, type OpenOptions } from "@moora/agent";
import type { Counter } from "./counter.ts";
import { driveToEnd } from "./drive.ts";
import { printErrorsBut } from "./errors.ts";
import { Died, Life, mortalLog } from "./mortal-log.ts";
import type { Transcript } from "./transcripts/transcript.ts";
import type { TestClock } from "../test-clock.ts";

/** What a process finds when it is started. */
export interface Scene {
  readonly log: EventLog;
  readonly id: string;
  readonly counter: Counter;
  readonly clock: TestClock;
}

export interface Ran {
  /** Undefined when the process died while it opened. */
  readonly session: DurableSession | undefined;
  readonly died: boolean;
}

/**
 * A process that opens a session and runs a transcript to its end, or until it dies. The dead close nothing: their
 * promises, watchers and leases are left as they were.
 */
export async function runProcess(
  { log, id, counter, clock }: Scene,
  transcript: Transcript,
  life = new Life(),
  options: Partial<OpenOptions> = {},
): Promise<Ran> {
  const deeds = new Set<string>();
  const agent = transcript.agent({ counter, life, deeds });
  let session: DurableSession | undefined;
  try {
    session = await openSession(
      { ...agent, parts: { ...agent.parts, llm: noting(agent.parts.llm, counter, life) } },
      {
        log: mortalLog(log, life),
        id,
        clock: life.clock(clock),
        isOwnerGone: () => true,
        // A dead process cannot use its log, and one that was left behind notices the next one.
        onError: printErrorsBut("Died", "StaleWriter"),
        ...options,
      },
    );
    await driveToEnd(session, transcript, clock, () => life.isOver, deeds);
  } catch (error) {
    if (!(error instanceof Died) && !life.isOver) throw error;
  }
  return { session, died: life.isOver };
}

/** The model, and a note in the world of everything that it was asked. */
export const noting = (llm: LlmCaller, counter: Counter, life: Life): LlmCaller => ({
  name: llm.name,
  call(request, options = {}) {
    const asked = [options.idempotencyKey ?? "", digestOf(JSON.stringify(request))] as const;
    if (!life.isOver) counter.asked(...asked, requestProblems(request)[0]);
    return llm.call(request, options);
  },
});
