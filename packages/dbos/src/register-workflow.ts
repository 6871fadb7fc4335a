import { DBOS, Error as DbosErrors } from "@dbos-inc/dbos-sdk";
import { BuildError } from "@moora/agent";

/** Registers a workflow of an agent with DBOS. Throws `BuildError` if this process has one of this name. */
export function registerWorkflow<Work, Result>(
  agent: string,
  name: string,
  run: (work: Work) => Promise<Result>,
): (work: Work) => Promise<Result> {
  try {
    return DBOS.registerWorkflow(run, { name });
  } catch (error) {
    if (!(error instanceof DbosErrors.DBOSConflictingRegistrationError)) throw error;
    throw new BuildError(
      `DBOS has the workflow ${name} already. Call dbosHost once for the agent "${agent}", or give each agent a name of its own.`,
    );
  }
}
