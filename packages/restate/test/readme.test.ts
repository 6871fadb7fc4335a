import { Page, Programs, typeErrors } from "@moora/testbed/page";
import { knownHosts } from "@moora/testbed/hosts";
import { afterAll, describe, expect, it } from "vitest";

const page = new Page("packages/restate/README.md");
const programs = new Programs();

afterAll(() => programs[Symbol.dispose]());

describe("the page of this package", () => {
  it("compiles", () => {
    const names = ["service.ts", "client.ts", "server.ts"];
    for (const name of names) programs.write(name, page.block(`ts file=${name}`));
    expect(typeErrors(programs, names)).toBe("");
  });

  it("repeats why cases are left out", () => {
    const text = page.text.replaceAll(/\s+/g, " ");
    expect(Object.keys(knownHosts.find(({ name }) => name === "Restate")?.cannot ?? {})).toHaveLength(3);
    for (const word of [
      "The clock is that of the system",
      "Records become durable in the server of Restate",
      "a session has no owner",
    ])
      expect(text).toContain(word);
  });
});
