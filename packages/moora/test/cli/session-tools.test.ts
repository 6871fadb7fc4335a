import { statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TemporaryFolder } from "./temporary-folder.ts";
import { calls, FakeProvider, says } from "./fake-provider.ts";
import { TestHost } from "./test-host.ts";

let place = new TemporaryFolder();
beforeEach(() => {
  place = new TemporaryFolder();
});
afterEach(() => place[Symbol.dispose]());

const module = join(import.meta.dirname, "asking-tools.ts");
const pays = calls(["pay", { euros: 5 }]);

/** A command without a terminal. */
async function cli(...args: readonly string[]) {
  const host = new TestHost({ cwd: place.path });
  return { code: await host.run(args), out: host.stdout.text, err: host.stderr.text };
}

/** A session in which a call waits for approval. */
const openCall = async (provider: FakeProvider, ...log: readonly string[]) =>
  await cli("run", "pay", "--session", "ada", "--tools", module, ...log, ...provider.options);

describe("a session whose open call needs a tool of --tools", () => {
  it("does not run without it: the call waits, and the error names the way to load it", async () => {
    await using provider = await FakeProvider.start(pays, says("Paid."));
    expect((await openCall(provider)).code).toBe(7);
    const approved = await cli("approve", "ada");
    expect(approved.err).toContain("moora run --session ada\n");
    const before = (await cli("log", "ada")).out;
    const without = await cli("run", "--session", "ada", ...provider.options);
    expect(without.code).toBe(2);
    expect(without.err).toContain(
      'moora: Session "ada" has open calls of tools that are not loaded: call_1 pay. ' +
        "Load them as before: --tools FILE for a module, --mcp for a server, --allow-fetch for fetch_url.\n" +
        "To cancel the calls instead: moora cancel ada\n",
    );
    expect((await cli("chat", "--session", "ada")).code).toBe(2);
    expect((await cli("log", "ada")).out).toBe(before);
    const loaded = await cli("run", "--session", "ada", "--tools", module, ...provider.options);
    expect(loaded).toMatchObject({ code: 0, out: "Paid.\n" });
    expect(JSON.stringify(provider.bodies[1])).toContain("paid {");
  });

  it("names the options that it ran with in the command that resumes it", async () => {
    await using provider = await FakeProvider.start(pays);
    const opened = await openCall(provider, "--log", "logs");
    const given = ["--log", "logs", "--tools", module, ...provider.options].join(" ");
    expect(opened.err).toContain(`moora run --session ada ${given}\n`);
  });
});

it("the folder .moora is for its owner only", async () => {
  await using provider = await FakeProvider.start(pays);
  await openCall(provider);
  expect(statSync(place.at(".moora")).mode & 0o777).toBe(0o700);
});
