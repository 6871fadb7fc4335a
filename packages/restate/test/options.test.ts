import { BuildError, defineAgent } from "@moora/agent";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import {
  agentsWhoseSubAgentAsks,
  agentsWhoseSubAgentsAskNothing,
  refusalOfSubAgent,
} from "@moora/testbed/asking-sub-agents";
import { createEndpointHandler } from "@restatedev/restate-sdk/fetch";
import { describe, expect, it } from "vitest";
import { restateServices, restateSession, type RestateOptions, type SessionOptions } from "../src/index.ts";

const agent = defineAgent({ name: "clerk", llm: new MockLlmCaller([answers("")]) });
const ingressUrl = "http://127.0.0.1:8080";

describe("restateServices", () => {
  it("refuses an agent whose name is not the name of a service", () => {
    const clerk = defineAgent({ name: "the clerk", llm: new MockLlmCaller([answers("")]) });
    expect(() => restateServices(clerk, { ingressUrl })).toThrow('got "the clerk"');
  });

  it("refuses an agent with a name that the server reserves", () => {
    const clerk = defineAgent({ name: "restate-clerk", llm: new MockLlmCaller([answers("")]) });
    expect(() => restateServices(clerk, { ingressUrl })).toThrow(
      'The name of an agent on Restate must not start with "restate", got "restate-clerk".',
    );
  });

  it.each(agentsWhoseSubAgentAsks)("refuses an agent %s", (_, lead, tool) => {
    expect(() => restateServices(lead, { ingressUrl })).toThrow(BuildError);
    expect(() => restateServices(lead, { ingressUrl })).toThrow(refusalOfSubAgent("restateServices", tool));
  });

  it.each(agentsWhoseSubAgentsAskNothing)("hosts an agent %s", (_, lead) => {
    expect(restateServices(lead, { ingressUrl })).toHaveLength(2);
  });
});

interface Discovered {
  readonly name: string;
  readonly ingressPrivate?: boolean;
  readonly retryPolicyMaxAttempts?: number;
  readonly retryPolicyOnMaxAttempts?: string;
}

interface DiscoveredService {
  readonly name: string;
  readonly handlers: readonly Discovered[];
}

/** What the object of sessions reports of its handlers when it is registered. */
async function discovered(): Promise<readonly Discovered[]> {
  const handler = createEndpointHandler({
    services: restateServices(agent, { ingressUrl }),
    logger: () => undefined,
  });
  const accept = "application/vnd.restate.endpointmanifest.v4+json";
  const response = await handler(new Request("http://service/discover", { headers: { accept } }));
  const found = (await response.json()) as { readonly services: readonly DiscoveredService[] };
  return found.services.find(({ name }) => name === "clerk-session")?.handlers ?? [];
}

describe("the object of sessions", () => {
  it("ends a read that fails, and repeats an input until it is applied", async () => {
    const handlers = await discovered();
    const ends = handlers.filter(({ retryPolicyOnMaxAttempts }) => retryPolicyOnMaxAttempts === "KILL");
    expect(ends.map(({ name }) => name).toSorted()).toEqual(["head", "header", "part", "records", "view"]);
    for (const { retryPolicyMaxAttempts } of ends) expect(retryPolicyMaxAttempts).toBe(14);
  });

  it("lets timers call expire, and no caller of the ingress", async () => {
    const isPrivate = (await discovered()).filter(({ ingressPrivate }) => ingressPrivate === true);
    expect(isPrivate.map(({ name }) => name)).toEqual(["expire"]);
  });
});

describe("the options of restateServices", () => {
  it.each<[unknown, RegExp]>([
    [undefined, /restateServices needs an object of options/],
    [{}, /ingressUrl is missing/],
    [{ ingressUrl: 8080 }, /ingressUrl must be a URL such as "http:.*", got 8080/],
    [{ ingressUrl: "127.0.0.1:8080" }, /ingressUrl must be a URL such as "http:.*", got "127.0.0.1:8080"/],
    [{ ingressUrl, longestEffectMs: 0 }, /longestEffectMs must be a positive number, got 0/],
    [{ ingressUrl, cacheBytes: 0 }, /cacheBytes must be a positive number, got 0/],
    [{ ingressUrl, retentionMs: -1 }, /retentionMs must be an integer of milliseconds, 0 or more, got -1/],
    [{ ingressUrl, retentionMs: 0.5 }, /retentionMs must be an integer of milliseconds, 0 or more, got 0.5/],
    [{ ingressUrl, retentionMs: Number.POSITIVE_INFINITY }, /milliseconds, 0 or more, got Infinity/],
    [{ ingressUrl, onprogress: () => undefined }, /Unknown option "onprogress"/],
  ])("are checked: %j", (options, message) => {
    expect(() => restateServices(agent, options as RestateOptions)).toThrow(message);
  });
});

describe("the options of restateSession", () => {
  it.each<[unknown, RegExp]>([
    [{ agent: "clerk", id: "ada" }, /ingressUrl is missing/],
    [{ ingressUrl: "localhost", agent: "clerk", id: "ada" }, /ingressUrl must be a URL such as/],
    [{ ingressUrl, agent: "Restate-clerk", id: "ada" }, /must not start with "restate", got "Restate-clerk"/],
    [{ ingressUrl, id: "ada" }, /agent is missing/],
    [{ ingressUrl, agent: "clerk" }, /id is missing/],
    [
      { ingressUrl, agent: "clerk", id: "" },
      /id must be a well-formed string of 1 to 200 characters, .* got ""/,
    ],
    [{ ingressUrl, agent: "clerk", id: "a".repeat(201) }, /id must be a well-formed string of 1 to 200/],
    [{ ingressUrl, agent: "clerk", id: "a\ud800" }, /id must be a well-formed string of 1 to 200/],
    [{ ingressUrl, agent: "clerk", id: "." }, /and not "\." or "\.\.", got "\."/],
    [{ ingressUrl, agent: "clerk", id: ".." }, /and not "\." or "\.\.", got "\.\."/],
    [{ ingressUrl, agent: "clerk", id: "ada", by: "ada" }, /Unknown option "by"/],
  ])("are checked: %j", (options, message) => {
    expect(() => restateSession(options as SessionOptions)).toThrow(message);
  });

  it.each(["a", "a/b", "%2F", "...", "\u0000", "a".repeat(200)])("accept the id %j", (id) => {
    expect(restateSession({ ingressUrl, agent: "clerk", id })).toBeTypeOf("object");
  });
});
