import type { InputOf } from "@moora/agent-core-state-machine";
import type { LlmOutcome } from "@moora/llm";

/** The outcome of a model call that is recorded as failed. A missing price is not a failure of the model. */
export const recordedFailure = ({ failure, partial = "" }: InputOf<"llm-call-failed">): LlmOutcome => ({
  ok: false,
  failure: { ...failure, kind: failure.kind === "NoPrice" ? "unknown" : failure.kind },
  partial,
});

/** The parts of a request by which a recording distinguishes requests. */
interface Asked {
  readonly purpose: string;
  readonly users: readonly string[];
  readonly turns: number;
}

/** The outcome of a request that the recording does not contain. */
export const unknownRequest = (id: string, asked: Asked, next: Asked | undefined): LlmOutcome => ({
  ok: false,
  failure: {
    kind: "invalid-request",
    message: `The recorded session ${JSON.stringify(id)} has no answer for this request. Asked: ${inWords(asked)}. ${
      next === undefined ? "All of its answers were used." : `Its next answer is to: ${inWords(next)}.`
    }`,
    retryable: false,
  },
  partial: "",
});

const inWords = ({ purpose, users, turns }: Asked): string =>
  `purpose ${purpose}, ${users.length} user messages, the last one ${(users.at(-1) ?? "none").slice(0, 200)}, ${turns} turns after it`;
