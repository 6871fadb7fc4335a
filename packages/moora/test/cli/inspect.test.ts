import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TemporaryFolder } from "./temporary-folder.ts";
import { TestHost } from "./test-host.ts";

let place = new TemporaryFolder();
beforeEach(async () => {
  place = new TemporaryFolder();
  await new TestHost({ cwd: place.path }).run(["run", "what is 2+2?", "--session", "ada"]);
});
afterEach(() => place[Symbol.dispose]());

/** The records that a page contains. */
const recordsIn = (html: string): number =>
  /<script type="application\/jsonl" id="moora-log">(.*?)<\/script>/s.exec(html)?.[1]?.trim().split("\n")
    .length ?? 0;

describe("moora inspect", () => {
  it("writes a page with the session to a new file, and does not replace one", async () => {
    const host = new TestHost({ cwd: place.path });
    expect(await host.run(["inspect", "ada", "--out", "ada.html"])).toBe(0);
    expect(host.stdout.text).toBe("ada is in ada.html. Open it in a browser.\n");
    const html = readFileSync(join(place.path, "ada.html"), "utf8");
    expect(recordsIn(html)).toBeGreaterThan(5);
    expect(html).toContain("connect-src 'none'");
    const again = new TestHost({ cwd: place.path });
    expect(await again.run(["inspect", "ada", "--out", "ada.html"])).toBe(5);
    expect(again.stderr.text).toContain("The file ada.html exists already.");
  });

  it.each(["inspect ada --out none/page.html", "export ada none/page.html"])(
    "says which folder is missing: %s",
    async (command) => {
      const host = new TestHost({ cwd: place.path });
      expect(await host.run(command.split(" "))).toBe(3);
      expect(host.stderr.text).toContain(`The folder ${place.at("none")} of none/page.html does not exist.`);
    },
  );

  it("fails for a damaged session, and writes a page that names the first damaged record", async () => {
    await new TestHost({ cwd: place.path }).run(["run", "1+1", "--session", "bob", "--log", "logs"]);
    const file = readdirSync(place.at("logs")).find((name) => name.endsWith(".jsonl")) ?? "";
    const path = place.at("logs", file);
    const lines = readFileSync(path, "utf8").split("\n");
    writeFileSync(path, lines.with(2, (lines[2] ?? "").replace("plan", "plam")).join("\n"));
    const host = new TestHost({ cwd: place.path });
    expect(await host.run(["inspect", "bob", "--log", "logs", "--out", "bob.html"])).toBe(6);
    expect(host.stdout.text).toBe("bob is in bob.html. Open it in a browser.\n");
    expect(host.stderr.text).toContain("The log is damaged: record 2 is");
    const html = readFileSync(place.at("bob.html"), "utf8");
    expect(html).toContain(
      'id="moora-problem">"Record 2 of the log is damaged. This page ends with record 1."<',
    );
    expect(recordsIn(html)).toBe(3);
  });

  it("writes the page to a file that only its owner can read, and opens it", async () => {
    const host = new TestHost({ cwd: place.path });
    expect(await host.run(["inspect", "ada"])).toBe(0);
    const [, file = ""] = /is in (\S+)\. Open it/.exec(host.stdout.text) ?? [];
    expect(host.opened).toEqual([pathToFileURL(file).href]);
    expect(recordsIn(readFileSync(file, "utf8"))).toBeGreaterThan(5);
    expect(statSync(dirname(file)).mode & 0o777).toBe(0o700);
    rmSync(dirname(file), { recursive: true });
  });

  it.each([
    [["inspect", "bob"], 3, 'Session "bob" not found'],
    [["inspect"], 2, 'Missing <session> for "moora inspect"'],
  ])("refuses %j", async (args, code, message) => {
    const host = new TestHost({ cwd: place.path });
    expect(await host.run(args)).toBe(code);
    expect(host.stderr.text).toContain(message);
    expect(existsSync(join(place.path, "bob.html"))).toBe(false);
  });
});
