import type { AgentState } from "@moora/agent";
import type { CaseRun } from "./case-run.ts";
import type { HostAbility } from "./host.ts";
import type { WorkMoment } from "./world.ts";

/** One step of a case. `isAgain`: the process died by itself in this step, and another one runs. */
export type HostStep = (run: CaseRun, isAgain: boolean) => void | Promise<void>;

/** What is true at the end of a case. What is left out is not checked. */
export interface HostExpectations {
  /** The control state of the session. */
  readonly control: AgentState["reActContext"]["control"]["type"];
  /** The reason of a failed loop. */
  readonly failure?: string;
  readonly answer?: string;
  /** How often work began or ended, or was aborted, by its name. */
  readonly moments?: Readonly<Partial<Record<WorkMoment["moment"], Readonly<Record<string, number>>>>>;
  /** How many idempotency keys the work had, by its name. */
  readonly keys?: Readonly<Record<string, number>>;
  /** For each tool, "success", or the code of the failure of its last call. */
  readonly results?: Readonly<Record<string, string>>;
  /** The text that was streamed. */
  readonly streamed?: string;
  /** The messages of the user, sorted. */
  readonly messages?: readonly string[];
  /** The application data. */
  readonly data?: { readonly count: number };
  readonly systemPrompt?: string;
}

/** What happens in a case, and what is true at its end. */
export interface HostScenario {
  /** A sentence about hosts. */
  readonly name: string;
  readonly group: string;
  readonly needs: readonly HostAbility[];
  readonly steps: readonly HostStep[];
  readonly expects: HostExpectations;
  /** `every-commit`: the case runs once for each record, and the process dies before and after it. Default: it runs once. */
  readonly deaths?: "every-commit";
}

/** A scenario without its names. */
type Row = Pick<HostScenario, "steps" | "expects" | "deaths"> & Partial<Pick<HostScenario, "needs">>;

/** The scenarios of a group, by their sentences. */
export const group = (name: string, rows: Readonly<Record<string, Row>>): readonly HostScenario[] =>
  Object.entries(rows).map(([sentence, row]) => ({ name: sentence, group: name, needs: [], ...row }));

/** The error of a case: what was expected of the host, and what was found. */
export class HostNotConforming extends Error {
  override readonly name = "HostNotConforming";
}
