/** Sessions with crashes, failing writes, second hosts, lying tools and late people: none breaks a law or an invariant. */
import { faultNames, simulate, type Coverage } from "@moora/agent-testing";
import { providerDialects } from "@moora/agent-testing/dialects";
import { prove } from "./parts/in-chunks.ts";
import { leadingAgent } from "@moora/testbed/leading-agent";
import { missedPairs } from "@moora/testbed/missed-pairs";
import { checkedAgent, drawResults, handlerAgent, shopAgent } from "./parts/simulated-agents.ts";

const kinds = [
  { name: "shopAgent", agent: shopAgent, drawsConfig: false },
  { name: "shopAgent", agent: shopAgent, drawsConfig: true },
  { name: "checkedAgent", agent: checkedAgent, drawsConfig: false },
  { name: "handlerAgent", agent: handlerAgent, drawsConfig: false },
  { name: "leadingAgent", agent: leadingAgent, drawsConfig: false },
];
const seedsApart = 10_000_000;
const allDialects = providerDialects();
/** What servers would say costs a quarter of a session; the proof of reachable states asks them about every request. */
const asksServers = (run: number): boolean => run % 8 === 0;

/** Injected faults make errors by the million. Their stacks say nothing: a failure is identified by its seed and its story. */
Error.stackTraceLimit = 0;

await prove({
  name: "simulated sessions",
  file: import.meta.filename,
  goal: 100_000,
  chunk: 300,
  async run(first, size, seed) {
    const counts: Record<string, number> = {};
    const failures: string[] = [];
    for (let run = first; run < first + size; run += 1) {
      const { name, agent, drawsConfig } = kinds[run % kinds.length] ?? raise();
      const options = { seed: seed * seedsApart + run, length: 5 + (run % 36), drawsConfig };
      const dialects = asksServers(run) ? allDialects : {};
      const report = await simulate(agent, { ...options, runs: 1, dialects, drawResults, thoroughEvery: 16 });
      if (report.failure !== undefined)
        failures.push(`${name} ${JSON.stringify(options)}\n${report.toText()}`);
      counts["inputs"] = (counts["inputs"] ?? 0) + report.inputs;
      for (const [control, row] of Object.entries(report.coverage)) {
        for (const [fault, count] of Object.entries(row)) {
          const pair = `${control} ${fault}`;
          counts[pair] = (counts[pair] ?? 0) + count;
        }
      }
    }
    return { cases: size, failures, counts };
  },
  /** Every fault has to have come in every state in which it can. */
  complaints: (counts) => missedPairs(toCoverage(counts), faultNames).map((pair) => `never hit: ${pair}`),
});

function toCoverage(counts: Readonly<Record<string, number>>): Coverage {
  const coverage: Record<string, Record<string, number>> = {};
  for (const [pair, count] of Object.entries(counts)) {
    const [control = "", fault] = pair.split(" ");
    if (fault !== undefined) (coverage[control] ??= {})[fault] = count;
  }
  return coverage;
}

function raise(): never {
  throw new RangeError("There is no such kind of session.");
}
