import { recordToInput, type AgentState, type FoldedSession } from "@moora/agent";
import { answerOfText, SessionOutput, questionsAt } from "@moora/agent/internal";
import { step } from "@moora/agent-core-state-machine";
import { checkedChain, digestOf, type LogRecord } from "@moora/event-log";
import type { SessionWithHeader } from "./session-cache.ts";
import type { RestateSession } from "./session-handle.ts";

/** A session whose records are folded one by one, and reported to the runs that wait for an answer. */
export class FollowedSession<Answer> {
  /** The digest of its header, which differs for another session with its id. */
  readonly header: string;
  readonly output: SessionOutput<Answer>;
  #session: FoldedSession;

  constructor(id: string, { header, session }: SessionWithHeader, decide: RestateSession["decide"]) {
    this.header = digestOf(header);
    this.#session = session;
    const initial = session.state;
    this.output = new SessionOutput<Answer>(
      {
        // The caller names the type of the answer; the agent has checked that it fits.
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion
        answerOf: async (text, schema = initial.config.answerSchema) => answerOfText(text, schema) as Answer,
      },
      { id, initial, runsEffects: false },
      { questions: () => questionsAt(this.state), decide },
    );
  }

  get state(): AgentState {
    return this.#session.state;
  }

  get seq(): number {
    return this.#session.head.seq;
  }

  /** Folds the records after the last one. Throws `LogCorrupt` for others, and `UnsupportedVersion` for one of a newer release. */
  fold(records: readonly LogRecord[], onState: (state: AgentState) => void): void {
    for (const record of checkedChain(this.#session.head, records)) {
      const { seq, digest } = record;
      const input = recordToInput(record);
      const next = step(input)(this.state);
      this.#session = { ...this.#session, state: next.state, head: { seq, digest } };
      this.output.published({ input }, next, seq);
      onState(next.state);
    }
  }
}
