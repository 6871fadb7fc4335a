import { afterAll, describe, expect, it } from "vitest";
import { faultNames } from "../../src/index.ts";
import { Page, Programs, typeErrors } from "@moora/testbed/page";

const page = new Page("packages/agent-testing/README.md");
const programs = new Programs();

afterAll(() => programs[Symbol.dispose]());

describe("the page of this package", () => {
  it("shows what its program prints", () => {
    programs.write("simulate.ts", page.block("ts file=simulate.ts"));
    expect(typeErrors(programs, ["simulate.ts"])).toBe("");
    const { status, output } = programs.run("simulate.ts");
    expect(status, output).toBe(0);
    expect(page.shown("text from=simulate.ts", output)).toBe(output);
  });

  it("runs a host through its suite", () => {
    programs.write("host.ts", page.block("ts file=host.ts"));
    expect(typeErrors(programs, ["host.ts"])).toBe("");
    const { status, output } = programs.run("host.ts");
    expect(status, output).toBe(0);
    expect(output).toContain("approvals: a rejected call does not run");
  });

  it("names every family of faults", () => {
    const families = new Set(faultNames.map((fault) => fault.split(":", 1)[0]));
    for (const family of families) expect(page.text).toContain(`\`${family}\``);
  });
});
