import { SessionError } from "@moora/agent";
import { errorText } from "@moora/agent-core-effects/internal";
import { TerminalError } from "@restatedev/restate-sdk";

/** The release of this process cannot continue a session with such data. The cause is what `releaseInputs` threw. */
export class ReleaseRefusal extends Error {
  override readonly name = "ReleaseRefusal";

  constructor(cause: unknown) {
    super(`This release cannot continue the session. ${errorText(cause)}`, { cause });
  }
}

/**
 * Handles a call of a caller. Rejects, so that Restate does not repeat it, if this release cannot continue the session: no repetition succeeds
 * on its deployment, and later inputs wait behind it. What effects and timers report is repeated instead, because it must not be lost.
 */
export async function orRefuse<Result>(handle: () => Promise<Result>): Promise<Result> {
  try {
    return await handle();
  } catch (error) {
    const isRefusal = error instanceof ReleaseRefusal || isOfNewerRelease(error);
    throw isRefusal ? new TerminalError(error.message, { errorCode: 409 }) : error;
  }
}

/** Whether an error is about the header or a record of a newer release. */
const isOfNewerRelease = (error: unknown): error is SessionError =>
  error instanceof SessionError && error.code === "UnsupportedVersion";
