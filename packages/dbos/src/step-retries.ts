import type { StepConfig } from "@dbos-inc/dbos-sdk";
import { LogError, SessionError } from "@moora/agent";

/** How often a step of a workflow is retried, as `shouldRetry` says. */
export const retries: Readonly<StepConfig> = {
  retriesAllowed: true,
  intervalSeconds: 1,
  backoffRate: 1,
  maxAttempts: Number.MAX_SAFE_INTEGER,
};

/**
 * A step is retried while the log is busy or unreachable, and while another process runs the session (a session from before DBOS held
 * leases).
 */
export const isTransient = (error: unknown): boolean =>
  (error instanceof LogError && (error.code === "LogBusy" || error.code === "LogWrite")) ||
  (error instanceof SessionError && error.code === "SessionBusy");

/**
 * The step of an effect is also retried while the release of this process cannot use the data or the team of the session: an effect that
 * failed would never run again. The workflow waits in this process until it ends. The first such error is reported.
 */
export function retryOfEffect(onError: (error: unknown) => void): (error: unknown) => boolean {
  let isReported = false;
  return (error) => {
    if (isTransient(error)) return true;
    if (!isDataRefusal(error) && !(error instanceof SessionError && error.code === "WrongAgent"))
      return false;
    if (!isReported) onError(error);
    isReported = true;
    return true;
  };
}

/** Whether the data of a session was refused. The error of a workflow of another process has only its name. */
export const isDataRefusal = (error: unknown): boolean =>
  error instanceof Error && error.name === "DataRefused";
