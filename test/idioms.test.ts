import { describe, expect, it } from "vitest";
import { privateMembersIn } from "../scripts/idioms.ts";

describe("the check of idioms", () => {
  it("finds private fields, methods and parameters, but not private constructors", () => {
    const lines = [
      "class Some {",
      "  private count = 0;",
      "  private readonly names: readonly string[] = [];",
      "  private async run(): Promise<void> {}",
      "  private constructor(",
      "    private readonly log: Log,",
      "  ) {}",
      "  #size = 0; // not private",
      "}",
    ];
    expect(privateMembersIn(lines.join("\n"))).toEqual([2, 3, 4, 6]);
  });
});
