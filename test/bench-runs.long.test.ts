import { runBench } from "@moora/testbed/run-bench";
import { describe, expect, it } from "vitest";

/** The cells of the lines of a Markdown table with so many columns. */
const cellsOf = (lines: readonly string[], columns: number): readonly (readonly string[])[] =>
  lines
    .filter((line) => line.startsWith("|"))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
    .filter((cells) => cells.length === columns);

const machine = /^\d+ cores, Node v[\d.]+, load [\d.]+ at the end\.$/;

describe("a benchmark, run with small numbers", () => {
  it("measures a server", async () => {
    const small = ["--sessions", "2", "--streams", "4", "--samples", "1", "--loops", "2", "--takeOvers", "1"];
    const lines = await runBench("server", small);
    const rows = lines.slice(1, -1).map((line) => line.split(/ {3,}/));
    const count = /^[\d,]+$/;
    const time = /^[\d,.]+ (ms|µs)$/;
    const memory = /^-?[\d,.]+ KB$/;
    const cpu = /^[\d,]+ µs of CPU, \d+\.\d times$/;
    const shapes: readonly (readonly [string, RegExp])[] = [
      ["sessions on one process", /^2$/],
      ["open streams on one process", /^4$/],
      ["opening a stream", time],
      ["heap of an idle stream", memory],
      ["memory of the process for an idle stream", memory],
      ["events to readers in a second", count],
      ["memory of the process for an active stream", memory],
      ["loop of a session in process, answered in 20 pieces", /^[\d,]+ µs of CPU$/],
      ["the same by a server, to one reader of its events", cpu],
      ["the same by a server, over AG-UI", cpu],
      ["the same by a server, to a chat of the AI SDK", cpu],
      ["from a post to the last event", time],
      ["take-over after a kill, on one machine", /^[\d,]+ to [\d,]+ ms$/],
    ];
    expect(rows.map(([what]) => what)).toEqual(shapes.map(([what]) => what));
    for (const [index, [what, shape]] of shapes.entries()) expect(rows[index]?.[1], what).toMatch(shape);
    expect(lines.at(-1)).toMatch(machine);
  });

  it("measures a call on each host", async () => {
    const small = ["--samples", "1", "--warmUps", "0", "--records", "0", "--uncachedRecords", "0"];
    const lines = await runBench("hosts", [...small, "--loops", "1", "--crowd", "2"]);
    const [, , ...hosts] = cellsOf(lines, 4);
    expect(hosts.map(([name]) => name)).toEqual([
      "in memory",
      "SQLite",
      "PostgreSQL",
      "DBOS",
      "Restate",
      "Durable Object",
    ]);
    for (const [name, ms, beside, ratio] of hosts) {
      expect(ms, name).toMatch(/^\d+\.\d\d$/);
      const isBesideAnEngine = beside !== "";
      expect(isBesideAnEngine ? beside : "a bare step: 1.00 ms", name).toMatch(/^a bare .+: \d+\.\d\d ms$/);
      expect(ratio, name).toMatch(isBesideAnEngine ? /^\d+\.\d$/ : /^$/);
    }
    const growths = cellsOf(lines, 3).filter(([records]) => /^\d+$/.test(records ?? ""));
    expect(growths).toHaveLength(2);
    for (const growth of growths) expect(growth.every((cell) => /^\d+$/.test(cell))).toBe(true);
    expect(lines.at(-2)).toMatch(/^2 sessions on Restate at once: \d+ calls a second$/);
    expect(lines.at(-1)).toMatch(/^Medians of 1 loops of 19 calls, \d+ cores, Node v[\d.]+\.$/);
  });

  it("measures and computes what sessions need of PostgreSQL", async () => {
    const small = ["--measureMs", "50", "--storedSessions", "1000", "--listening", "2,5", "--rounds", "1"];
    const text = (await runBench("scale", small)).join("\n");
    const measured = ["recordsPerStep", "bytesPerRecord", "appendsPerSecond", "renewalsPerSecond"];
    for (const name of measured) expect(text).toMatch(new RegExp(`  ${name}: [\\d.]+,`));
    expect(text).toContain("needed { sessions: 1000000, stepsPerMinute: 1, processes: 100 }");
    expect(text).toMatch(/leases: \d+, notifications: \d+, appends: \d+, heads: \d+/);
    // The last column: each process receives one notification for each append.
    expect(text).toMatch(/│ 2 +│ \d+ +│ \d+ +│ 2 +│\n.*│ 5 +│ \d+ +│ \d+ +│ 5 +│\n/);
    expect(text.match(/│ \d+ +│ \d+ +│ (0|10000|25000) +│ \d+ +│ \d+ +│/g)).toHaveLength(15);
  });
});
