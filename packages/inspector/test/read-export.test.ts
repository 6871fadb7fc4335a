import { describe, expect, it } from "vitest";
import { RecordChecker, type RecordCheck } from "../src/session/record-check.ts";
import { readExport } from "../src/session/read-export.ts";
import { corpus, exportOf, historyOf } from "./support.ts";

const some = "twenty-steps";

function checksOf(text: string): readonly RecordCheck[] {
  const history = historyOf(text);
  const checker = new RecordChecker(history, readExport(text).headerText);
  const checks: RecordCheck[] = [];
  for (let check = checker.next(); check !== undefined; check = checker.next()) checks.push(check);
  return checks;
}

function problemOf(text: string): string | undefined {
  const reader = readExport(text);
  while (reader.next(7).length > 0);
  return reader.problem();
}

const changeLine = (text: string, index: number, change: (line: string) => string): string =>
  text
    .split("\n")
    .map((line, at) => (at === index ? change(line) : line))
    .join("\n");

describe("an exported session", () => {
  it.each(corpus)("%s is read, and every record is valid", (name) => {
    const text = exportOf(name);
    expect(problemOf(text)).toBeUndefined();
    expect(new Set(checksOf(text))).toEqual(new Set(["valid"]));
  });

  it("that was changed in one record is opened, and exactly this record is damaged", () => {
    const changed = changeLine(exportOf(some), 3, (line) =>
      line.replace(/\\"timestamp\\":(\d)/, String.raw`\"timestamp\":9$1`),
    );
    expect(changed).not.toBe(exportOf(some));
    const checks = checksOf(changed);
    expect(checks.indexOf("damaged")).toBe(2);
    expect(checks.filter((check) => check === "damaged")).toHaveLength(1);
  });

  it("in which a record is missing is damaged at the record after it", () => {
    const lines = exportOf(some).split("\n");
    const checks = checksOf(lines.toSpliced(4, 1).join("\n"));
    expect(checks[3]).toBe("damaged");
  });

  it("that was truncated is opened, with the reason", () => {
    const lines = exportOf(some).split("\n");
    expect(problemOf(lines.slice(0, 6).join("\n"))).toContain("truncated");
    expect(problemOf([...lines.slice(0, 6), '{"seq":'].join("\n"))).toContain("Line 7 is not a record");
    expect(problemOf(lines.toSpliced(6, 2).join("\n"))).toContain("the file has");
  });

  it.each([
    ["", "not an exported session"],
    ["hello\n", "not an exported session"],
    ['{"format":1,"generation":"x","id":"y"}\n', "moora export"],
    ['{"mark":"moora/session/9","id":"a","header":"{}"}\n', "this inspector reads"],
    ['{"mark":"moora/session/1","id":"a","header":"{}"}\n', "Unsupported log format"],
  ])("is not %j: the error says what to do", (text, message) => {
    expect(() => readExport(text)).toThrow(message);
  });
});
