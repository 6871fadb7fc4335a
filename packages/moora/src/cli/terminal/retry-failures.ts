import type { Session } from "@moora/agent";
import type { InputOf } from "@moora/agent-core-state-machine";

type Failure = InputOf<"llm-call-failed">["failure"];

/** The failure of the model call that is retried at `due`, in milliseconds since 1970. Undefined when it is not known. */
export type FailureOfRetry = (due: number) => Failure | undefined;

/** Remembers why model calls are retried: the event that announces a retry has no reason. */
export function retryFailures(session: Pick<Session, "onInput">): FailureOfRetry {
  const failures = new Map<number, Failure>();
  session.onInput((input, { reActContext: { control } }) => {
    if (input.type === "llm-call-failed" && control.type === "Planning" && control.retryAt !== null)
      failures.set(control.retryAt, input.failure);
  });
  return (due) => {
    const failure = failures.get(due);
    failures.delete(due);
    return failure;
  };
}
