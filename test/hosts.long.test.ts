import { globSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { userMessage } from "@moora/agent";
import { restateSession } from "@moora/restate";
import { knownHosts } from "@moora/testbed/hosts";
import { freePort } from "@moora/testbed/ports";
import { createDatabase } from "@moora/testbed/postgres/database";
import { describe, expect, inject, it } from "vitest";
import { root } from "../scripts/workspace.ts";
import { bundleModule, startWorkerd, StorageFolder } from "../packages/cloudflare/test/workerd.ts";
import { RestateServer } from "../packages/restate/test/restate-server.ts";

const folder = join(root, "examples/hosts");
const read = (path: string): string => readFileSync(join(root, path), "utf8");

describe("the page about hosts", () => {
  const page = read("docs/hosts.md");

  it.each(knownHosts)(
    "has a row for the host $name, with the test that runs the suite on it",
    ({ name, test }) => {
      expect(page).toContain(`| [${name}](../${test})`);
      expect(read(test)).toContain("hostConformance(");
    },
  );

  const withoutBreaks = (text: string): string => text.replaceAll(/[*\s]+/g, " ");

  it.each(knownHosts)("the page of the host $name repeats what it cannot do", ({ cannot, page: path }) => {
    const text = withoutBreaks(read(path));
    for (const reason of Object.values(cannot)) expect(text).toContain(reason.replace(/\.$/, ""));
  });
});

describe("one agent on every host", () => {
  const starters = globSync(join(folder, "*.ts")).filter((path) => basename(path) !== "agent.ts");

  it("has a program for each kind of host", () => {
    expect(starters.length).toBeGreaterThan(3);
  });

  it.each(starters.map((path) => ({ name: basename(path), text: readFileSync(path, "utf8") })))(
    "$name runs the one agent file, in at most 20 lines",
    ({ text }) => {
      expect(text).toMatch(/import \{ agent \} from "\.\/agent\.ts";/);
      expect(text).not.toMatch(/defineAgent|defineTool/);
      expect(text.trimEnd().split("\n").length).toBeLessThanOrEqual(20);
    },
  );

  /** Runs a program and returns what it prints. */
  function run(name: string, env: Readonly<Record<string, string>> = {}): string {
    const args = ["--conditions=@moora/source", join(folder, name)];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      encoding: "utf8",
      env: { ...process.env, ...env },
    });
    expect(status, stderr).toBe(0);
    return stdout;
  }

  const patience = { timeout: 30_000 };
  const question = "What is the weather in Oslo?";
  const answer = "It is -3 degrees in Oslo.";

  it("gives the same answer in memory, in SQLite, in PostgreSQL and on DBOS", async () => {
    const env = { DATABASE_URL: await createDatabase(inject("postgresUrl")) };
    const answers = [run("memory.ts"), run("sqlite.ts"), run("postgres.ts", env), run("dbos.ts", env)];
    // DBOS prints lines of its own.
    for (const text of answers) expect(text.split("\n")).toContain(answer);
  });

  it("gives the same answer on Restate", async () => {
    await using server = await RestateServer.start();
    const port = await freePort();
    const args = [join(folder, "restate.ts"), server.ingressUrl, String(port)];
    const child = spawn(process.execPath, ["--conditions=@moora/source", ...args], {
      env: { ...process.env, RESTATE_LOGGING: "ERROR" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      expect(String(await once(child.stdout, "data"))).toContain("Serving the agent forecast");
      await server.register(`http://127.0.0.1:${port}`);
      const session = restateSession({ ingressUrl: server.ingressUrl, agent: "forecast", id: "oslo" });
      expect((await session.ask(question)).text).toBe(answer);
    } finally {
      child.kill("SIGKILL");
      await once(child, "exit");
    }
  });

  it("gives the same answer in a Durable Object", async () => {
    using storage = new StorageFolder();
    const code = await bundleModule(join(folder, "cloudflare.ts"));
    const workerd = startWorkerd({ code, objects: { SESSIONS: "Sessions" }, folder: storage.path });
    try {
      const url = "http://localhost/sessions/oslo";
      const body = JSON.stringify(userMessage(question));
      expect((await workerd.dispatchFetch(`${url}/inputs`, { method: "POST", body })).status).toBe(200);
      const stateNow = async () => await (await workerd.dispatchFetch(url)).text();
      await expect.poll(stateNow, patience).toContain(answer);
    } finally {
      await workerd.dispose();
    }
  });
});
