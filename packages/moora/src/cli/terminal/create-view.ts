import type { Session } from "@moora/agent";
import type { ChosenLlm } from "../choose-llm.ts";
import type { CliHost } from "../cli-host.ts";
import { modelFailureCause } from "../error-message.ts";
import { JsonView } from "./json-view.ts";
import type { GivenOptions } from "../options.ts";
import { retryFailures } from "./retry-failures.ts";
import type { RunView } from "./run-view.ts";
import type { Screen } from "./screen.ts";
import { TextView } from "./text-view.ts";

interface ViewParts {
  readonly session: Session;
  readonly screen: Screen;
  readonly chosen: ChosenLlm;
  readonly options: GivenOptions;
  readonly clock: CliHost["clock"];
}

/** The view that the options name: lines of JSON, or text for people. */
export function createView({ session, screen, chosen, options, clock }: ViewParts): RunView {
  const failureOfRetry = retryFailures(session);
  const showsTrace = options.has("trace");
  if (options.has("json")) return new JsonView(screen, showsTrace, failureOfRetry);
  const retryReason = (due: number): string => {
    const { kind = "", message = "" } = failureOfRetry(due) ?? {};
    return modelFailureCause(kind, message, chosen);
  };
  return new TextView(screen, { showsTrace, now: () => clock.now(), retryReason });
}
