import { fault, type Fault } from "./fault.ts";

const servers = ["packages/server/test/many-servers.test.ts"];

/** Faults of servers that share a log: what is applied twice. */
export const serverFaults: readonly Fault[] = [
  fault(
    190,
    "a post that another server records meanwhile is not known when its turn comes",
    {
      file: "packages/server/src/sessions/post-ledger.ts",
      text: "() => known?.has(id.key) === true",
      replacement: "() => false",
    },
    servers,
    /two servers on one log > (apply a change of data once that both get|cancel one loop)/,
  ),
];
