import { expect, it } from "vitest";
import { searchTools } from "../../src/request/search-tools.ts";

it("reads the tools of a state once, for all of its searches", () => {
  let reads = 0;
  const mail = {
    get description() {
      reads += 1;
      return "Sends an e-mail.";
    },
  };
  const tools = { mail, read: { description: "Reads a file." } };
  const all = new Set(["mail", "read"]);
  const found = searchTools(tools, all, "an e-mail", 5);
  expect(found.map(({ name }) => name)).toEqual(["mail"]);
  expect(reads).toBe(1);
  expect(searchTools(tools, new Set(["read"]), "files of an e-mail", 5)).toMatchObject([{ name: "read" }]);
  expect(searchTools(tools, all, "e-mail", 5)).toMatchObject([{ description: "Sends an e-mail." }]);
  expect(reads).toBe(1);
});

it("compares the first 32 words of a query", () => {
  const tools = { mail: { description: "Sends an email." } };
  const query = (before: number): string =>
    [...Array.from({ length: before }, (_, index) => `word${index}`), "email"].join(" ");
  expect(searchTools(tools, new Set(["mail"]), query(31), 5)).toHaveLength(1);
  expect(searchTools(tools, new Set(["mail"]), query(32), 5)).toEqual([]);
});
