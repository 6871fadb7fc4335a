import { memoryHost, type ConformanceHost } from "@moora/agent-testing/hosts";

/** A host of this repository, as far as the table of hosts shows it. */
export type KnownHost = Pick<ConformanceHost, "name" | "cannot"> & {
  /** The test file that runs the suite on it. */
  readonly test: string;
  /** The page of its package, which says what it cannot do. */
  readonly page: string;
};

const logs = "packages/agent-testing/test/hosts/hosts.long.test.ts";

/** What Restate cannot do. */
export const restateCannot: ConformanceHost["cannot"] = {
  clock: "The clock of Restate is that of the system.",
  "take-over": "A session on Restate has no owner: each effect is an invocation of its own.",
};

/** What DBOS cannot do. */
export const dbosCannot: ConformanceHost["cannot"] = {
  clock: "DBOS waits by the clock of the system, which cannot be moved.",
};

/** What a Durable Object cannot do. */
export const cloudflareCannot: ConformanceHost["cannot"] = {
  "take-over": "The platform runs one instance of an object at a time.",
};

/** The hosts of this repository, in the order of the table in docs/hosts.md. */
export const knownHosts: readonly KnownHost[] = [
  { ...memoryHost, test: logs, page: "packages/agent-testing/README.md" },
  { name: "JSONL", cannot: {}, test: logs, page: "packages/event-log/README.md" },
  { name: "SQLite", cannot: {}, test: logs, page: "packages/event-log/README.md" },
  { name: "PostgreSQL", cannot: {}, test: logs, page: "packages/event-log-postgres/README.md" },
  {
    name: "Restate",
    cannot: restateCannot,
    test: "packages/restate/test/conformance.long.test.ts",
    page: "packages/restate/README.md",
  },
  {
    name: "DBOS",
    cannot: dbosCannot,
    test: "packages/dbos/test/conformance.long.test.ts",
    page: "packages/dbos/README.md",
  },
  {
    name: "IndexedDB, in a worker",
    cannot: {},
    test: "packages/agent-testing/test-browser/hosts.test.ts",
    page: "docs/browser.md",
  },
  {
    name: "Cloudflare",
    cannot: cloudflareCannot,
    test: "packages/cloudflare/test/host-conformance.long.test.ts",
    page: "packages/cloudflare/README.md",
  },
];
