import { refuse } from "@moora/agent-core-effects/internal";
import { modelAnswerKinds } from "./model-answer.ts";
import { releaseChanges } from "./release.ts";
import { writeFaults } from "./sim-log.ts";
import { toolAnswerKinds } from "./tool-answer.ts";

/** The names of all faults of a simulation. The part before a colon is the family of the fault. */
export const faultNames: readonly string[] = [
  ...modelAnswerKinds.filter((kind) => kind !== "plain" && kind !== "calls").map((kind) => `llm:${kind}`),
  ...toolAnswerKinds.filter((kind) => kind !== "success" && kind !== "real").map((kind) => `tool:${kind}`),
  ...releaseChanges.map((change) => `release:${change}`),
  ...writeFaults.map((how) => `write:${how}`),
  "write:decision",
  "write:group",
  "lease:lost",
  "lease:fails",
  "lease:in-append",
  "crash",
  "crash:appended",
  "close",
  "takeover",
  "second-host",
  "clock-jump",
  "cancel",
  "cancel:sub-agent",
  "pause",
  "schedule",
  "late-result",
  "outside-result",
  "double-answer",
  "forged-decision",
  "blanket-approval",
  "listener-throws",
  "oversized",
];

/** What reports count beside the faults. It comes always, whatever is named. */
const usualNames: readonly string[] = ["llm:plain", "llm:calls", "llm:chunk", "tool:success", "tool:real"];

const familyOf = (fault: string): string => fault.split(":", 1)[0] ?? fault;

/**
 * Whether a fault may come, for the names in the option `faults`: its own name or its family. A family that is not a fault itself
 * may come when one of its faults may. Throws `BuildError` for an unknown name.
 */
export function faultFilter(names: readonly string[] | undefined): (fault: string) => boolean {
  if (names === undefined) return () => true;
  for (const name of names) {
    if (![...faultNames, ...usualNames].some((fault) => fault === name || familyOf(fault) === name)) {
      refuse(
        `faults: "${name}" is not a fault. Known: ${[...new Set(faultNames.map(familyOf))].join(", ")}.`,
      );
    }
  }
  const allowed = new Set(
    faultNames.filter((fault) => names.includes(fault) || names.includes(familyOf(fault))),
  );
  // A crash is a fault of its own beside those of its family.
  for (const family of [...allowed].map(familyOf)) if (!faultNames.includes(family)) allowed.add(family);
  return (fault) => allowed.has(fault);
}
