/** The conformance suite for hosts of agents. Runs on every platform that has the fetch standard. */
export { conformanceAgent } from "./hosts/agent.ts";
export type {
  CommitDeath,
  ConformanceHost,
  HostAbility,
  HostClock,
  HostSetup,
  PreparedHost,
  ProcessOptions,
} from "./hosts/host.ts";
export { HostNotConforming } from "./hosts/host-case.ts";
export { hostConformance, type HostCase } from "./hosts/host-conformance.ts";
export { logHost } from "./hosts/log-host.ts";
export { memoryHost } from "./hosts/memory-host.ts";
export { remoteWorld, worldHandler } from "./hosts/remote-world.ts";
export { SkippingClock } from "./hosts/skipping-clock.ts";
export { ProcessWorld, type HostWorld, type WorkMoment } from "./hosts/world.ts";
