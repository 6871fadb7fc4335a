// An agent with skills of the form of agentskills.io: it reads their list, loads the one that fits, and then a file of it.
// Run it: node_modules/.bin/node --conditions=@moora/source examples/skills.ts
import { join } from "node:path";
import { defineAgent, runTask } from "@moora/agent";
import { answers, callsTools, MockLlmCaller } from "@moora/llm/testing";
import { loadSkills } from "@moora/tools";

const skills = await loadSkills(join(import.meta.dirname, "skills"));
const file = { skill: "weekly-report", path: "references/style.md" };
const llm = new MockLlmCaller([
  callsTools([{ name: "load_skill", arguments: { name: "weekly-report" } }]),
  callsTools([{ name: "read_skill_file", arguments: file }]),
  answers("120 orders came in."),
]);
const agent = defineAgent({
  llm,
  systemPrompt: `You help the owner of a shop.\n\n${skills.catalog}`,
  tools: [...skills.tools],
});

const { text, state } = await runTask(agent, "Write the report of this week.");
for (const { result } of Object.values(state.toolCalls)) console.log(result?.isSuccess && result.content);
console.log(text);
