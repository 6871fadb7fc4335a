import type { ChosenLlm } from "../choose-llm.ts";
import type { CliHost } from "../cli-host.ts";
import { modelFailureCause } from "../error-message.ts";
import { JsonView } from "./json-view.ts";
import type { Options } from "../options.ts";
import type { RunView } from "./run-view.ts";
import type { Screen } from "./screen.ts";
import { TextView } from "./text-view.ts";

interface ViewParts {
  readonly screen: Screen;
  readonly chosen: ChosenLlm | undefined;
  readonly options: Options;
  readonly clock: CliHost["clock"];
}

/** The view that the options name: lines of JSON, or text for people. */
export function createView({ screen, chosen, options, clock }: ViewParts): RunView {
  const showsTrace = options.trace === true;
  if (options.json === true) return new JsonView(screen, showsTrace);
  const retryReason = (kind: string, message: string): string => modelFailureCause(kind, message, chosen);
  return new TextView(screen, { showsTrace, now: () => clock.now(), retryReason });
}
