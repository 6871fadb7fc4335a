import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { request, type IncomingMessage } from "node:http";
import { describe, expect, it, onTestFinished } from "vitest";
import { TemporaryFolder } from "./temporary-folder.ts";
import { TestHost } from "./test-host.ts";

const token = "ada-token-5f1d9c2e8b";

/** A host in a folder with a file of users. */
function hostWithUsers(): TestHost {
  const folder = new TemporaryFolder();
  onTestFinished(() => folder[Symbol.dispose]());
  writeFileSync(folder.at("users.json"), JSON.stringify({ users: [{ user: "ada", token }] }));
  writeFileSync(
    folder.at("hosts.mjs"),
    'export const allowedHosts = ["agents.example.com"];\nexport { one } from "' +
      new URL("agents-module.ts", import.meta.url).href +
      '";\n',
  );
  return new TestHost({ cwd: folder.path });
}

async function started(...args: readonly string[]) {
  const host = hostWithUsers();
  const ended = host.start(["serve", "--port", "0", ...args]);
  onTestFinished(async () => {
    host.interrupt();
    await ended;
  });
  await host.stdout.shows("Listening on ");
  const [, url = ""] = /Listening on (\S+)\. /.exec(host.stdout.text) ?? [];
  return { host, url };
}

/** The status and the headers of the sessions, as a proxy that keeps the headers of a browser requests them. */
async function ask(url: string, headers: Readonly<Record<string, string>>): Promise<IncomingMessage> {
  const sent = request(`${url}/sessions`, { headers: { authorization: `Bearer ${token}`, ...headers } });
  sent.end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  response.resume();
  return response;
}

describe("moora serve behind a proxy", () => {
  it("is reached by the hosts of --allow-host, also from their own pages", async () => {
    const hosts = ["--allow-host", "agents.example.com", "--allow-host", "Other.example.com:8443"];
    const { url } = await started("--auth", "users.json", ...hosts);
    const statusOf = async (headers: Readonly<Record<string, string>>) =>
      (await ask(url, headers)).statusCode;
    expect(await statusOf({ host: "agents.example.com" })).toBe(200);
    expect(await statusOf({ host: "agents.example.com", origin: "https://agents.example.com" })).toBe(200);
    expect(await statusOf({ host: "other.example.com:8443" })).toBe(200);
    expect(await statusOf({ host: "evil.example.com" })).toBe(403);
    expect(await statusOf({ host: "agents.example.com", origin: "https://evil.example.com" })).toBe(403);
  });

  it("is used by the pages of --allow-origin", async () => {
    const origin = "https://app.example.com";
    const { url } = await started("--auth", "users.json", "--allow-origin", origin);
    const response = await ask(url, { origin });
    expect(response.statusCode).toBe(200);
    expect(response.headers["access-control-allow-origin"]).toBe(origin);
    expect((await ask(url, { origin: "https://evil.example.com" })).statusCode).toBe(403);
  });

  it.each([
    [["--allow-host", "agents.example.com"], "Name users with --auth FILE"],
    [
      ["--auth", "users.json", "--allow-host", "https://agents.example.com"],
      '--allow-host must contain hosts such as "agents.example.com", got "https://agents.example.com".',
    ],
    ...["*", "*.example.com"].map((host): [string[], string] => [
      ["--auth", "users.json", "--allow-host", host],
      `--allow-host must contain hosts such as "agents.example.com", got "${host}".`,
    ]),
    [
      ["--allow-origin", "*"],
      '--allow-origin must contain origins such as "https://app.example.com", got "*".',
    ],
    [["--agent", "hosts.mjs"], "allowedHosts of hosts.mjs is not used. Name them with --allow-host."],
  ])("refuses %j", async (args, message) => {
    const host = hostWithUsers();
    expect(await host.run(["serve", "--port", "0", ...args])).toBe(2);
    expect(host.stderr.text).toContain(message);
  });

  it.each(["127.0.0.2", "localhost"])("needs no users on the loopback address %s", async (address) => {
    const { url } = await started("--host", address);
    expect((await ask(url, {})).statusCode).toBe(200);
  });
});
