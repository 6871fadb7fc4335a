import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TemporaryFolder } from "./temporary-folder.ts";
import { Child } from "./child.ts";
import { calls, FakeProvider, says } from "./fake-provider.ts";
import { hold, runs } from "./blocking-tools.ts";

let place = new TemporaryFolder();
beforeEach(() => {
  place = new TemporaryFolder();
});
afterEach(() => place[Symbol.dispose]());

const tools = join(import.meta.dirname, "blocking-tools.ts");

const cli = (...args: readonly string[]): Child => new Child(args, place.path);

/** A command that is run to its end. */
async function done(...args: readonly string[]): Promise<Child & { readonly code: number | string }> {
  const child = cli(...args);
  child.process.stdin.end();
  return Object.assign(child, { code: await child.ended() });
}

/** Runs a task in the session ada, without a terminal. */
function owner(provider: FakeProvider, ...words: readonly string[]): Child {
  const child = cli("run", ...words, "--session", "ada", "--tools", tools, ...provider.options);
  child.process.stdin.end();
  return child;
}

/** The same, waiting for decisions on its standard input. */
const waitingOwner = (provider: FakeProvider, ...words: readonly string[]): Child =>
  cli("run", ...words, "--session", "ada", "--approve-from-stdin", "--tools", tools, ...provider.options);

const wants = (name: string) => calls([name, { what: "it" }]);
const holdRuns = (): void => writeFileSync(place.at(hold), "");
const letRunsEnd = (): void => rmSync(place.at(hold));
const runLines = (): readonly string[] => readFileSync(place.at(runs), "utf8").trim().split("\n");

describe("a session that outlives its process", { timeout: 60_000 }, () => {
  it("resumes by itself after kill -9 in the middle of a keyed tool, with the same key (C02)", async () => {
    await using provider = await FakeProvider.start(wants("send_mail"), says("It is sent."));
    holdRuns();
    const killed = owner(provider, "send", "it");
    await killed.shows("stderr", "send_mail runs");
    killed.process.kill("SIGKILL");
    expect(await killed.ended()).toBe("SIGKILL");
    letRunsEnd();
    const again = owner(provider);
    expect(await again.ended()).toBe(0);
    expect(again.stdout).toBe("It is sent.\n");
    const [first, second, ...more] = runLines().map((line) => line.split(" "));
    expect([first?.[1], second?.[1], more]).toEqual(["1", "2", []]);
    expect(first?.[2]).toBe(second?.[2]);
  });

  it("never runs a once tool again, and the model reads that the outcome is unknown (C03)", async () => {
    await using provider = await FakeProvider.start(wants("charge"), says("I do not know."));
    holdRuns();
    const killed = owner(provider, "charge", "it");
    await killed.shows("stderr", "charge runs");
    killed.process.kill("SIGKILL");
    await killed.ended();
    letRunsEnd();
    // The same command again does not send the task twice.
    const again = owner(provider, "charge", "it");
    expect(await again.ended()).toBe(0);
    expect(again.stdout).toBe("I do not know.\n");
    expect(runLines()).toHaveLength(1);
    expect(JSON.stringify(provider.bodies[1])).toContain("unknown");
    expect(JSON.stringify(provider.bodies[1]).split("charge it")).toHaveLength(2);
    const log = await done("log", "ada");
    expect(log.stdout).toMatch(/opened by .*\n(.*\n)*.*opened by/);
  });

  it("takes a decision from another process while its owner waits", async () => {
    await using provider = await FakeProvider.start(wants("refund"), says("It is refunded."));
    const waiting = waitingOwner(provider, "refund", "it");
    await waiting.shows("stderr", "The agent wants to call refund");
    const approved = await done("approve", "ada", "--as", "bob");
    expect(approved.code).toBe(0);
    expect(approved.stdout).toMatch(/^Approved: call_1 refund \{"what":"it"\}\. It is record \d+\.\n$/);
    expect(await waiting.ended()).toBe(0);
    expect(waiting.stdout).toBe("It is refunded.\n");
    expect((await done("log", "ada")).stdout).toContain("call_1 refund approved by bob");
    expect(runLines()).toHaveLength(1);
  });

  it("of two simultaneous approvals one wins, and the other reports the reviewer (H04)", async () => {
    await using provider = await FakeProvider.start(wants("refund"), says("It is refunded."));
    const asking = owner(provider, "refund", "it");
    expect(await asking.ended()).toBe(7);
    const names = ["bob", "eve"];
    const both = await Promise.all(names.map((name) => done("approve", "ada", "call_1", "--as", name)));
    expect(new Set(both.map(({ code }) => code))).toEqual(new Set([0, 5]));
    const winner = names[both.findIndex(({ code }) => code === 0)] ?? "";
    const loser = both.find(({ code }) => code === 5);
    expect(loser?.stderr).toMatch(new RegExp(`already decided by ${winner}`, "i"));
    expect(await owner(provider).ended()).toBe(0);
    expect(runLines()).toHaveLength(1);
  });

  it("is run by one process; others report which one, and can post and follow (D02)", async () => {
    await using provider = await FakeProvider.start(wants("charge"), says("Both are done."), says("Both."));
    holdRuns();
    const running = owner(provider, "charge", "it");
    await running.shows("stderr", "charge runs");
    const second = await done("chat", "--session", "ada");
    expect(second.code).toBe(4);
    expect(second.stderr).toMatch(
      new RegExp(
        `^moora: The session ada is run by .+, process ${running.process.pid}, started [-0-9T:]+Z\\.`,
      ),
    );
    expect(second.stderr).toContain("moora send ada ...");
    const follower = cli("log", "ada", "--follow");
    await follower.shows("stdout", "call_1 charge started");
    expect((await done("send", "ada", "and", "that")).code).toBe(0);
    await follower.shows("stdout", "user: and that");
    letRunsEnd();
    expect(await running.ended()).toBe(0);
    expect(JSON.stringify(provider.bodies)).toContain("and that");
    await follower.shows("stdout", "[LlmFinalAnswer]");
    follower.process.kill("SIGINT");
    expect(await follower.ended()).toBe(130);
    expect(follower.stderr).toBe("");
  });

  it("on SIGTERM starts nothing new, lets a tool end, and the next start resumes (C12)", async () => {
    await using provider = await FakeProvider.start(wants("charge"), says("It is charged."));
    holdRuns();
    const stopped = owner(provider, "charge", "it");
    await stopped.shows("stderr", "charge runs");
    stopped.process.kill("SIGTERM");
    await stopped.shows("stderr", "Stopping");
    letRunsEnd();
    expect(await stopped.ended()).toBe(143);
    expect(stopped.stderr).toContain(
      `Stopped. To resume: moora run --session ada --tools ${tools} --provider local`,
    );
    expect(provider.bodies).toHaveLength(1);
    const again = owner(provider);
    expect(await again.ended()).toBe(0);
    expect(again.stdout).toBe("It is charged.\n");
    expect(runLines()).toHaveLength(1);
  });

  it("on SIGTERM waits for a limited time for a tool that does not end", async () => {
    await using provider = await FakeProvider.start(wants("send_mail"), says("It is sent."));
    holdRuns();
    const stopped = owner(provider, "send", "it");
    await stopped.shows("stderr", "send_mail runs");
    stopped.process.kill("SIGTERM");
    expect(await stopped.ended()).toBe(143);
    letRunsEnd();
    expect(await owner(provider).ended()).toBe(0);
    expect(runLines()).toHaveLength(2);
  });

  it("a chat shows messages from other processes, and leaves on SIGTERM", async () => {
    await using provider = await FakeProvider.start(says("Hello, Bob."));
    const chat = cli("chat", "--session", "ada", ...provider.options);
    let sent = await done("send", "ada", "I", "am", "Bob");
    while (sent.code === 3) sent = await done("send", "ada", "I", "am", "Bob");
    expect(sent.code).toBe(0);
    await chat.shows("stderr", "> I am Bob");
    await chat.shows("stdout", "Hello, Bob.");
    chat.process.kill("SIGTERM");
    expect(await chat.ended()).toBe(143);
  });
});
