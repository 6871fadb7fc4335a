import type { Ability, LogCase } from "../log-storage.ts";
import { appendingCases } from "./appending.ts";
import { blobCases } from "./blobs.ts";
import { bodyCases } from "./bodies.ts";
import { concurrencyCases } from "./concurrency.ts";
import { crashCases } from "./crashes.ts";
import { dueCases } from "./due.ts";
import { damageCases } from "./damages.ts";
import { idCases } from "./ids.ts";
import { isolationCases } from "./isolation.ts";
import { leaseCases } from "./leases.ts";
import { liveCases } from "./live.ts";
import { pageCases } from "./pages.ts";
import { readingCases } from "./reading.ts";
import { removalCases } from "./removals.ts";
import { sessionCases } from "./sessions.ts";
import { snapshotCases } from "./snapshots.ts";
import { watchingCases } from "./watching.ts";

const cases: readonly LogCase[] = [
  ...sessionCases,
  ...idCases,
  ...appendingCases,
  ...readingCases,
  ...bodyCases,
  ...blobCases,
  ...isolationCases,
  ...concurrencyCases,
  ...crashCases,
  ...leaseCases,
  ...dueCases,
  ...pageCases,
  ...removalCases,
  ...watchingCases,
  ...liveCases,
  ...snapshotCases,
  ...damageCases,
];

/** Returns the cases that a store must pass, without those that need abilities its storage lacks. Run each on its own storage. */
export const logConformance = (abilities: readonly Ability[]): readonly LogCase[] =>
  cases.filter(({ needs }) => needs === undefined || abilities.includes(needs));
