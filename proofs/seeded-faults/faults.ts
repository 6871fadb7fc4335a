import { coreFaults } from "./core-faults.ts";
import { dataFaults } from "./data-faults.ts";
import { effectFaults } from "./effect-faults.ts";
import type { Fault } from "./fault.ts";
import { logFaults } from "./log-faults.ts";
import { pauseFaults } from "./pause-faults.ts";
import { restartFaults } from "./restart-faults.ts";
import { runnerFaults } from "./runner-faults.ts";
import { serverFaults } from "./server-faults.ts";
import { sessionFaults } from "./session-faults.ts";
import { teamFaults } from "./team-faults.ts";

/** Every fault, in the order of their numbers: 1 to 30 are those of scenario O01, each where it would be made here. */
export const faults: readonly Fault[] = [
  ...logFaults,
  ...runnerFaults,
  ...coreFaults,
  ...effectFaults,
  ...restartFaults,
  ...sessionFaults,
  ...teamFaults,
  ...dataFaults,
  ...pauseFaults,
  ...serverFaults,
].toSorted((one, other) => one.number - other.number);
