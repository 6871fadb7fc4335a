import { Page, Programs, typeErrors } from "@moora/testbed/page";
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
});
