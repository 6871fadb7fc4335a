import { BuildError, defineAgent } from "@moora/agent";
import { memoryLog } from "@moora/event-log";
import { answers, MockLlmCaller } from "@moora/llm/testing";
import { createAgentServer } from "@moora/server";
import { serve } from "@moora/server/node";
import { describe, expect, it } from "vitest";

const agents = [defineAgent({ llm: new MockLlmCaller(() => answers("Hello.")) })];
const log = memoryLog();

describe("the options of a server", () => {
  it.each<[string, unknown, string]>([
    ["nothing", undefined, "createAgentServer needs an object of options, got undefined."],
    ["one agent", { agents: agents[0], log }, "agents must be a list of one or more agents, got an object."],
    [
      "no agent in the list",
      { agents: [...agents, {}], log },
      "agents[1] of createAgentServer needs an agent, got an object. Define it with defineAgent({ llm, ... }).",
    ],
    [
      "a folder as the log",
      { agents, log: "./log" },
      'log must be an event log, such as sqliteLog(file) or memoryLog(), got "./log".',
    ],
    [
      "one host",
      { agents, log, allowedHosts: "a.example" },
      'allowedHosts must be a list of strings, got "a.example".',
    ],
    [
      "a host of other machines and without authorize",
      { agents, log, allowedHosts: ["localhost:3000", "agents.example"] },
      'allowedHosts names "agents.example", which other machines can reach. Give authorize as well.',
    ],
    [
      "a pattern of hosts",
      { agents, log, authorize: () => undefined, allowedHosts: ["agents.example", "*.example"] },
      'allowedHosts must contain hosts such as "agents.example.com", got "*.example".',
    ],
    [
      "a pattern of origins",
      { agents, log, allowedOrigins: ["https://*.example.com"] },
      'allowedOrigins must contain origins such as "https://app.example.com", got "https://*.example.com".',
    ],
    [
      "one origin",
      { agents, log, allowedOrigins: "*" },
      'allowedOrigins must be a list of strings, got "*".',
    ],
    ["a lease of no time", { agents, log, leaseMs: 0 }, "leaseMs must be a positive integer, got 0."],
    [
      "a clock without timers",
      { agents, log, clock: { now: () => 0 } },
      "clock must be a clock, an object with now() and after(), got an object.",
    ],
    ["a number as the owner", { agents, log, owner: 7 }, "owner must be a string, got 7."],
    ["a list of limits", { agents, log, limits: [] }, "limits must be an object, got an array."],
    [
      "a misspelled limit",
      { agents, log, limits: { maxStream: 5 } },
      'Unknown option "limits.maxStream" of createAgentServer. Did you mean "maxStreams"?',
    ],
  ])("with %s are refused", (_, options, message) => {
    expect(() => createAgentServer(options as never)).toThrow(new BuildError(message));
  });
});

describe("the options of serve", () => {
  it.each<[string, unknown, unknown, string]>([
    ["no server", undefined, {}, "serve needs a server of createAgentServer, got undefined."],
    [
      "a text as the port",
      createAgentServer({ agents, log }),
      { port: "8080" },
      'port must be an integer from 0 to 65535, got "8080".',
    ],
  ])("with %s are refused", async (_, server, options, message) => {
    await expect(serve(server as never, options as never)).rejects.toThrow(new BuildError(message));
  });
});
