import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { Page, Programs, typeErrors, type Ended } from "@moora/testbed/page";

/** docs/find-a-bug.md, as printed and in its order. */
const page = new Page("docs/find-a-bug.md");
const programs = new Programs();
let found: Ended;

/** What a report prints of a failure, from its first line to the end of its story. */
const failureIn = (output: string): string =>
  /^InvariantBroken: [\s\S]*?the faults stop\n/m.exec(output)?.[0] ?? output;

const keptTest = (): string => readdirSync(join(programs.path, "found"))[0] ?? "";

beforeAll(() => {
  for (const { info, text } of page.fences) {
    const file = /^ts file=(\S+)$/.exec(info)?.[1];
    if (file !== undefined) programs.write(file, text);
  }
  found = programs.run("simulate.ts");
});

afterAll(() => programs[Symbol.dispose]());

describe("the page about finding a bug", () => {
  it("compiles", () => {
    expect(typeErrors(programs, ["paying.ts", "simulate.ts", "everything.ts"])).toBe("");
  });

  it("finds the double payment, and prints what it shows", () => {
    expect(found.status).toBe(1);
    expect(page.shown("text from=simulate.ts", failureIn(found.output))).toBe(failureIn(found.output));
  });

  it("writes the test that it shows, which compiles and fails in a fresh process", () => {
    const file = `found/${keptTest()}`;
    const text = programs.read(file);
    expect(page.shown("ts from=found", text)).toBe(text);
    expect(typeErrors(programs, [file])).toBe("");
    const { status, output } = programs.test("found");
    expect(status, output).toBe(1);
    expect(output).toContain("paysOnce: a call was paid twice");
  });

  it("prints a line that finds it again in a fresh process", () => {
    const line = /^reproduce: (.*)$/m.exec(found.output)?.[1] ?? "";
    expect(line).toContain("...options");
    programs.write(
      "again.ts",
      `import { simulate } from "@moora/agent-testing";
import { agent, options } from "./paying.ts";
const report = ${line};
console.log(report.toText());
process.exitCode = report.ok ? 0 : 1;
`,
    );
    const { status, output } = programs.run("again.ts");
    expect(status, output).toBe(1);
    expect(failureIn(output)).toBe(failureIn(found.output));
  });

  it("fails in the kept test, too, where the promise was removed from the options", () => {
    const paying = programs.read("paying.ts");
    programs.write("paying.ts", paying.replace("  invariants: { paysOnce },\n", ""));
    const { status, output } = programs.test("found");
    programs.write("paying.ts", paying);
    expect(status).toBe(1);
    expect(output).toContain("The options lack invariants.paysOnce, which found this failure.");
  });

  it("passes in the kept test, and finds nothing any more, when the bug is fixed as it says", () => {
    programs.write("paying.ts", programs.read("paying.ts").replace('replay: "safe"', 'replay: "once"'));
    const kept = programs.test("found");
    expect(kept.status, kept.output).toBe(0);
    const { status, output } = programs.run("simulate.ts");
    expect(status, output).toBe(0);
  });

  it("finds nothing with every fault, when the bug is fixed", () => {
    const { status, output } = programs.run("everything.ts");
    expect(status, output).toBe(0);
  });
});
