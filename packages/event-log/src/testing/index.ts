export { withSessions } from "../with-sessions.ts";
export type { Ability, LogCase, LogStorage } from "./log-storage.ts";
export { logConformance } from "./conformance/index.ts";
export { memoryLogStorage } from "./memory-storage.ts";
export { checkInterleaving, interleavings } from "./interleavings.ts";
export type { Interleaving } from "./interleavings.ts";
export { bodies, appendBodies, appendOneByOne, headOf, recordsAfter, snapshotOf } from "./chain-of.ts";
export { seededRandom } from "./seeded-random.ts";
export { UnmetExpectation } from "./expectations.ts";
