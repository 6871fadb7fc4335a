import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { Page, Programs, typeErrors } from "@moora/testbed/page";
import { freePort } from "@moora/testbed/ports";
import { afterAll, describe, expect, it } from "vitest";
import { RestateServer } from "./restate-server.ts";

const page = new Page("packages/restate/README.md");
const programs = new Programs();

afterAll(() => programs[Symbol.dispose]());

describe("the page of this package", () => {
  it("compiles", () => {
    const names = ["service.ts", "client.ts", "server.ts"];
    for (const name of names) programs.write(name, page.block(`ts file=${name}`));
    expect(typeErrors(programs, names)).toBe("");
  });

  it("shows what its client prints, with its service on the server of Restate", async () => {
    await using server = await RestateServer.start();
    const port = await freePort();
    const program = (name: string): string =>
      page
        .block(`ts file=${name}`)
        .replace("http://127.0.0.1:8080", server.ingressUrl)
        .replace("9080", String(port));
    programs.write("run-service.ts", program("service.ts"));
    programs.write("run-client.ts", program("client.ts"));
    const service = startService("run-service.ts");
    try {
      const registered = () => server.register(`http://127.0.0.1:${port}`);
      await expect.poll(registered, { timeout: 30_000 }).toBeUndefined();
      expect(programs.run("run-client.ts")).toEqual({ status: 0, output: page.block("text from=client.ts") });
    } finally {
      service.kill("SIGKILL");
      await once(service, "exit");
    }
  });
});

const startService = (name: string) =>
  spawn(process.execPath, ["--conditions=@moora/source", join(programs.path, name)], {
    env: { ...process.env, NODE_OPTIONS: "", RESTATE_LOGGING: "ERROR" },
    stdio: ["ignore", "ignore", "inherit"],
  });
