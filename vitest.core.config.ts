import { defineConfig } from "vitest/config";
import base from "./vitest.config.ts";

/** The core, its effects, and what logs are written with. */
const covered = [
  "packages/agent-core-state-machine/src/**",
  "packages/agent-core-effects/src/**",
  "packages/event-log/src/{validation,chain,digest,lease,snapshot-seal}.ts",
  "packages/event-log/src/jsonl/{header-line,offset-index,record-line,scan,torn-tail}.ts",
];

/** The tests of these, and the transcripts and laws that they are held to. */
const tests = [
  "packages/agent-core-{state-machine,effects}/test/**/*.test.ts",
  "packages/agent/test/{restarts,session}/**/*.test.ts",
  "packages/agent/test/{agent-error,agent-tool,answers,arguments,budgets,define-agent}.test.ts",
  "packages/agent-testing/test/{cancel-anywhere,effects-at,guards,laws.long,llm-request.long}.test.ts",
  "packages/agent-testing/test/{rare-transcripts,request-memo.long,transcripts}.test.ts",
  "packages/event-log/test/{arguments,degenerate,validation,codec,conformance.long,digest,jsonl-damage.long,jsonl-tails}.test.ts",
];

const { projects: _, ...test } = base.test ?? {};

export default defineConfig({
  ...base,
  test: {
    ...test,
    include: tests,
    // What is not covered, and why: docs/decisions/007-unreachable-branches.md
    coverage: {
      provider: "v8",
      include: covered,
      reporter: ["text", "json-summary", "json"],
      thresholds: { branches: 95.5 },
    },
  },
});
