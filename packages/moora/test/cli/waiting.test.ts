import { join } from "node:path";
import { systemClock } from "@moora/agent";
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
const pays = calls(["pay", { euros: 5 }], ["quick", {}], ["pay", { euros: 6 }]);

/** A command without a terminal. */
async function cli(...args: readonly string[]) {
  const host = new TestHost({ cwd: place.path });
  return { code: await host.run(args), out: host.stdout.text, err: host.stderr.text };
}

describe("a question in a run without a terminal", () => {
  it("in a session with a log ends with 7, leaves the questions open, and names the commands", async () => {
    await using provider = await FakeProvider.start(pays, says("Paid."));
    const options = ["--session", "ada", "--tools", module, ...provider.options];
    const resume = `moora run --session ada --tools ${module} ${provider.options.join(" ")}`;
    const open = await cli("run", "pay", ...options);
    expect(open.code).toBe(7);
    expect(open.err).toContain("<- quick quickly done");
    expect(open.err).toContain(
      'The agent wants to call pay with\n{\n  "euros": 5\n}\nRisk: low. Asked because the tool asks about each of its calls.\n  moora approve ada call_1\n  moora reject ada call_1 --reason ...\n',
    );
    expect(open.err).toContain("  moora approve ada call_3\n");
    expect(open.err).toMatch(
      /Waiting for a decision\. Use one of the commands above, then resume with\n {2}(.*)\n$/,
    );
    expect(open.err).toContain(`  ${resume}\n`);
    expect((await cli("approve", "ada", "call_1")).err).toContain(
      "If no process runs the session: moora run --session ada\n",
    );
    expect((await cli("run", ...options)).code).toBe(7);
    expect((await cli("reject", "ada", "call_3", "--reason", "too much")).code).toBe(0);
    expect(await cli("run", ...options)).toMatchObject({ code: 0, out: "Paid.\n" });
    expect(JSON.stringify(provider.bodies[1])).toContain("too much");
  });

  it("shows an approved call that ends at once, when it is resumed", async () => {
    await using provider = await FakeProvider.start(calls(["pay", { euros: 5 }]), says("Paid."));
    const options = ["--session", "ada", "--tools", module, ...provider.options];
    expect((await cli("run", "pay", ...options)).code).toBe(7);
    expect((await cli("approve", "ada", "1")).code).toBe(0);
    const resumed = await cli("run", ...options);
    expect(resumed).toMatchObject({ code: 0, out: "Paid.\n" });
    const calling = '-> pay {"euros":5}\n<- pay paid {"euros":5}\n';
    expect(resumed.err.split(calling)).toHaveLength(2);
  });

  it("shows it once each in JSON, with the events before and after it", async () => {
    await using provider = await FakeProvider.start(calls(["pay", { euros: 5 }]), says("Paid."));
    const options = ["--session", "ada", "--tools", module, "--json", ...provider.options];
    expect((await cli("run", "pay", ...options)).code).toBe(7);
    expect((await cli("approve", "ada", "1")).code).toBe(0);
    const resumed = await cli("run", ...options);
    const rows = resumed.out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const kinds = rows.map(({ type, state }) => (type === "StateStarted" ? state : type));
    expect(kinds).toEqual([
      "ToolCallStarted",
      "ToolCallFinished",
      "Observing",
      "Planning",
      "LlmToken",
      "Done",
      "FinalAnswer",
      "Result",
    ]);
  });

  it("is decided by the number of its call, which is short for the id", async () => {
    await using provider = await FakeProvider.start(pays, says("Paid."));
    const options = ["--session", "ada", "--tools", module, ...provider.options];
    expect((await cli("run", "pay", ...options)).code).toBe(7);
    expect((await cli("approve", "ada", "1")).out).toContain('Approved: call_1 pay {"euros":5}.');
    expect((await cli("reject", "ada", "1")).err).toContain('Call call_1 pay in session "ada" was already');
    expect((await cli("approve", "ada", "9")).err).toContain('Call "call_9" not found in session "ada".');
    expect((await cli("approve", "ada", "03")).err).toContain('Call "03" not found in session "ada".');
  });

  it("is the same in JSON", async () => {
    await using provider = await FakeProvider.start(pays);
    const open = await cli(
      "run",
      "pay",
      "--json",
      "--session",
      "ada",
      "--tools",
      module,
      ...provider.options,
    );
    expect(open.code).toBe(7);
    const rows = open.out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(rows.filter(({ type }) => type === "ApprovalRequested")).toHaveLength(2);
    expect(rows.at(-1)).toMatchObject({
      type: "Result",
      ok: false,
      questions: [
        {
          toolCallId: "call_1",
          about: "approval",
          commands: ["moora approve ada call_1", "moora reject ada call_1 --reason ..."],
        },
        { toolCallId: "call_3" },
      ],
      resume: expect.stringContaining("moora run --session ada --tools"),
    });
  });

  it("ends a piped chat as well", async () => {
    await using provider = await FakeProvider.start(pays);
    const host = new TestHost({ cwd: place.path });
    const args = ["chat", "--session", "ada", "--tools", module, ...provider.options];
    expect(await host.run(args, "pay\nnot sent\n")).toBe(7);
    expect(provider.bodies).toHaveLength(1);
  });

  it("in memory rejects, since no other process can decide, and runs to its end with a code of its own", async () => {
    await using provider = await FakeProvider.start(
      calls(["ask_human", { question: "Why?" }], ["pay", {}]),
      says("Well."),
    );
    const run = await cli("run", "pay", "--tools", module, ...provider.options);
    expect(run).toMatchObject({ code: 8, out: "Well.\n" });
    expect(run.err).toContain(
      "No terminal to ask on: the call of pay is rejected. Use --approve-from-stdin or --session ID.\n",
    );
    expect(run.err).toContain(
      "the call of ask_human is rejected. Use --approve-from-stdin or --session ID.\n",
    );
    expect(JSON.stringify(provider.bodies[1])).toContain("Not run. No reviewer is available.");
  });

  it("with --approve-from-stdin leaves open what the input does not decide", async () => {
    await using provider = await FakeProvider.start(pays);
    const host = new TestHost({ cwd: place.path });
    const args = ["run", "pay", "--approve-from-stdin", "--session", "ada", "--tools", module];
    expect(await host.run([...args, ...provider.options], "y\n")).toBe(7);
    expect(host.stderr.text).toContain("<- pay paid");
    expect(host.stderr.text).not.toContain("moora approve ada call_1\n");
    expect(host.stderr.text).toContain("moora approve ada call_3\n");
  });

  it("ends at a terminal if the user presses Ctrl-D at the question", async () => {
    await using provider = await FakeProvider.start(pays);
    const host = new TestHost({ isTTY: true, env: { NO_COLOR: "1" }, cwd: place.path });
    const code = host.run(["run", "pay", "--session", "ada", "--tools", module, ...provider.options]);
    await host.stderr.showsPrompt("Allow it? [y]es, [n]o, [a]lways, [e]dit: ");
    host.stdin.write("\u0004");
    expect(await code).toBe(7);
  });
});

it("a run of a paused session without a terminal ends with 7, and names the command that resumes it", async () => {
  await cli("run", "what is 2+2?", "--session", "ada");
  await cli("pause", "ada", "--reason", "Not now.");
  const asked =
    "The session is paused (Not now.). To continue it: moora resume ada\n" +
    "Waiting to be resumed. Use the command above, then resume with\n  moora run --session ada\n";
  const ends = { code: 7, out: "", err: expect.stringContaining(asked) };
  expect(await cli("run", "what is 3+3?", "--session", "ada")).toMatchObject(ends);
  expect(await cli("run", "--session", "ada")).toMatchObject(ends);
  const { out } = await cli("run", "--session", "ada", "--json");
  const pause = { reason: "Not now.", command: "moora resume ada" };
  expect(JSON.parse(out.trim().split("\n").at(-1) ?? "")).toMatchObject({ ok: false, questions: [], pause });
  expect(await new TestHost({ cwd: place.path }).run(["chat", "--session", "ada"], "not sent\n")).toBe(7);
  expect((await cli("resume", "ada")).code).toBe(0);
  const resumed = { code: 0, out: expect.stringContaining("= 6") };
  expect(await cli("run", "--session", "ada")).toMatchObject(resumed);
});

it("an old session with an open question is pruned, unless --keep-open keeps it", async () => {
  await using provider = await FakeProvider.start(pays);
  await cli("run", "pay", "--session", "ada", "--tools", module, ...provider.options);
  await cli("run", "what is 2+2?", "--session", "bob");
  const later = async (...args: readonly string[]) => {
    const host = new TestHost({ cwd: place.path });
    host.clock = { ...systemClock, now: () => systemClock.now() + 86_400_000 };
    expect(await host.run(["prune", "--older-than", "1h", ...args])).toBe(0);
    return host.stdout.text;
  };
  expect(await later("--dry-run")).toBe("ada  would be removed\nbob  would be removed\n");
  expect(await later("--keep-open")).toBe("bob  removed\nada  kept: open\n");
});

describe("run --session without a task", () => {
  it("for a session that does not exist is an error, and creates none", async () => {
    expect(await cli("run", "--session", "nosuch")).toMatchObject({
      code: 3,
      err: 'moora: Session "nosuch" not found in .moora/sessions.db. Start one with moora run ... --session nosuch\n',
    });
    expect((await cli("sessions")).out).toBe("");
  });

  it("with nothing in progress explains why, and writes nothing", async () => {
    await using provider = await FakeProvider.start(says("Done."));
    await cli("run", "hello", "--session", "ada", ...provider.options);
    const before = (await cli("log", "ada")).out;
    expect(await cli("run", "--session", "ada")).toMatchObject({
      code: 5,
      err: 'moora: Nothing to resume in session "ada": its last task is finished. Give it a task: moora run ... --session ada\n',
    });
    expect((await cli("log", "ada")).out).toBe(before);
  });

  it("explains that the last task failed or was canceled", async () => {
    await using provider = await FakeProvider.start(calls(["current_time", {}]), pays);
    await cli("run", "hello", "--session", "ada", "--max-steps", "1", ...provider.options);
    expect((await cli("run", "--session", "ada")).err).toContain('in session "ada": its last task failed: ');
    await cli("run", "pay", "--session", "bob", "--tools", module, ...provider.options);
    await cli("cancel", "bob");
    expect((await cli("run", "--session", "bob")).err).toContain("its last task was canceled.");
  });
});

describe("a record that a session does not have", () => {
  it.each([["show"], ["fork"], ["log"], ["rerun"]])(
    "is an error of %s that names the last one",
    async (command) => {
      await cli("run", "what is 2+2?", "--session", "ada");
      const option = command === "show" || command === "fork" ? "--at" : "--from";
      expect(await cli(command, "ada", option, "999")).toMatchObject({
        code: 3,
        err: expect.stringMatching(/^moora: Session "ada" has no record 999\. The last one is \d+\.\n/m),
      });
      expect((await cli("sessions")).out.match(/^\w+/gm)).toEqual(["ada"]);
    },
  );
});
