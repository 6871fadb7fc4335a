import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { plannerNotice } from "../../src/cli/providers.ts";
import { TemporaryFolder } from "./temporary-folder.ts";
import { TestHost } from "./test-host.ts";

const adaToken = "ada-token-5f1d9c2e8b";
const bobToken = "bob-token-7a6b5c4d3e";
const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/** A host in a folder with a file `users.json`. */
function hostWith(content: unknown): TestHost {
  const folder = new TemporaryFolder();
  onTestFinished(() => folder[Symbol.dispose]());
  const text = typeof content === "string" ? content : JSON.stringify(content);
  writeFileSync(join(folder.path, "users.json"), text);
  return new TestHost({ cwd: folder.path });
}

const users = [
  { user: "ada", token: adaToken },
  { user: "bob", tokenSha256: sha256(bobToken), mayReadMetrics: true },
];

/** A server with these users, reached from this machine at the address of a listener for all. */
async function started(...args: readonly string[]) {
  const host = hostWith({ users });
  const ended = host.start(["serve", "--port", "0", "--auth", "users.json", ...args]);
  await host.stdout.shows("Listening on ");
  const [, url = ""] = /Listening on (\S+)\. /.exec(host.stdout.text) ?? [];
  const address = url.replace("0.0.0.0", "127.0.0.1");
  const ask = async (path: string, token?: string, method = "GET"): Promise<Response> =>
    await fetch(`${address}${path}`, {
      method,
      ...(token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }),
    });
  const stop = async (): Promise<void> => {
    host.interrupt();
    await ended;
  };
  return { host, ask, stop };
}

describe("moora serve --auth", () => {
  it("serves the agent of the command line at an address that others can reach, to its users only", async () => {
    const { host, ask, stop } = await started("--host", "0.0.0.0");
    expect((await ask("/sessions")).status).toBe(401);
    expect((await ask("/sessions", "another-token-of-some-length")).status).toBe(401);
    expect((await ask("/sessions", `${adaToken}x`)).status).toBe(401);
    expect((await ask("/mcp", undefined, "POST")).status).toBe(401);
    const created = await ask("/agents/moora/sessions", adaToken, "POST");
    expect(created.status).toBe(201);
    const { id } = (await created.json()) as { id: string };
    expect((await ask(`/sessions/${id}`, adaToken)).status).toBe(200);
    expect((await ask(`/sessions/${id}`, bobToken)).status).toBe(404);
    expect((await ask("/metrics", adaToken)).status).toBe(403);
    expect((await ask("/metrics", bobToken)).status).toBe(200);
    await stop();
    expect(host.stderr.text).toBe(`${plannerNotice}\n`);
  });

  it("does not instruct the agent for a command line", async () => {
    const { ask, stop } = await started();
    const created = await (await ask("/agents/moora/sessions", adaToken, "POST")).text();
    const [, id = ""] = /"id":"([^"]+)"/.exec(created) ?? [];
    const session = await (await ask(`/sessions/${id}`, adaToken)).text();
    expect(session).toContain('"systemPrompt":"You are an assistant. ');
    await stop();
  });

  it("serves the page of the inspector, which asks for a token, and says how requests are sent", async () => {
    const { host, ask, stop } = await started();
    const page = await ask("/inspector/");
    expect(page.status).toBe(200);
    expect(await page.text()).toContain("Bearer token");
    expect((await ask("/sessions")).headers.get("www-authenticate")).toBe("Bearer");
    expect(host.stdout.text).toContain(
      'Users: ada, bob. Requests need the header "authorization: Bearer TOKEN"; the inspector asks for the token.\n',
    );
    await stop();
  });

  it("prints no token, neither in its lines nor in an error", async () => {
    const { host, ask, stop } = await started("--verbose");
    await ask(`/sessions/${adaToken}`, adaToken);
    await stop();
    for (const text of [host.stdout.text, host.stderr.text])
      for (const secret of [adaToken, bobToken, sha256(bobToken)]) expect(text).not.toContain(secret);
  });

  it.each<[string, unknown, string]>([
    [
      "a text that is not JSON",
      `{"users": [{"user": "ada", "token": "${adaToken}"`,
      "users.json is not valid JSON.",
    ],
    ["a list", users, "users.json must be an object with a list of users, and no other field."],
    ["no users", { users: [] }, "users of users.json must be a list with at least one user."],
    [
      "the digest of the empty text",
      { users: [{ user: "ada", tokenSha256: sha256("") }] },
      "users[0].tokenSha256 of users.json must be the SHA-256 of a token that is not empty, as 64 hexadecimal digits in lower case.",
    ],
    [
      "another field",
      { users, admin: adaToken },
      "users.json must be an object with a list of users, and no other field.",
    ],
    ["a user that is a text", { users: [adaToken] }, "users[0] of users.json must be an object."],
    ["no name", { users: [{ token: adaToken }] }, "users[0].user of users.json must be a name."],
    [
      "a short token",
      { users: [{ user: "ada", token: "hunter2" }] },
      "users[0].token of users.json must be a text of at least 16 printable ASCII characters without spaces.",
    ],
    [
      "a digest of another form",
      { users: [users[0], { user: "bob", tokenSha256: bobToken }] },
      "users[1].tokenSha256 of users.json must be the SHA-256 of a token that is not empty, as 64 hexadecimal digits in lower case.",
    ],
    [
      "a misspelled field",
      { users: [{ user: "ada", tokn: adaToken }] },
      'users[0] of users.json has an unknown field "tokn". Did you mean "token"?',
    ],
    [
      "a token in the place of a field",
      { users: [{ user: "ada", [adaToken]: true }] },
      "users[0] of users.json has an unknown field. Fields are user, token, tokenSha256, mayReadMetrics.",
    ],
    [
      "no token",
      { users: [{ user: "ada" }] },
      "users[0] of users.json must have either token or tokenSha256.",
    ],
    [
      "the same token twice",
      { users: [users[0], { user: "eve", tokenSha256: sha256(adaToken) }] },
      "users[1] of users.json has the token of users[0].",
    ],
  ])("refuses a file with %s, and prints none of its values", async (_, content, message) => {
    const host = hostWith(content);
    expect(await host.run(["serve", "--port", "0", "--auth", "users.json"])).toBe(2);
    expect(host.stderr.text).toContain(`moora: ${message} `);
    for (const secret of [adaToken, bobToken, "hunter2", sha256(adaToken)])
      expect(host.stderr.text).not.toContain(secret);
  });

  it.each([
    [["--auth", "missing.json"], "The file missing.json does not exist."],
    [["--auth", "."], "The file . is a folder."],
    [
      ["--auth", "users.json", "--agent", join(import.meta.dirname, "agents-module.ts")],
      "which exports authorize. Leave out one of them.",
    ],
  ])("refuses %j", async (args, message) => {
    const host = hostWith({ users });
    expect(await host.run(["serve", "--port", "0", ...args])).toBe(2);
    expect(host.stderr.text).toContain(message);
  });

  it("is not an option of a worker, which answers no requests", async () => {
    const host = hostWith({ users });
    expect(await host.run(["worker", "--auth", "users.json"])).toBe(2);
    expect(host.stderr.text).toContain('"moora worker" does not take the option --auth.');
  });
});
