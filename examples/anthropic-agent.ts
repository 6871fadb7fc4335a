// A conversation with a model of Anthropic: two questions in one session, of which the second needs the first.
// Run it: ANTHROPIC_API_KEY=... node_modules/.bin/node --conditions=@moora/source examples/anthropic-agent.ts
import { AgentError, anthropic, calculatorTool, defineAgent, startSession } from "moora";

const agent = defineAgent({
  llm: anthropic("claude-sonnet-5-5"),
  tools: [calculatorTool()],
  systemPrompt: "Use the calculator for arithmetic. Answer in one sentence.",
  config: { settings: { reasoningEffort: "low", maxOutputTokens: 2_000 } },
});

async function main(): Promise<void> {
  await using session = startSession(agent);
  for (const question of ["What is 12.5% of 640?", "And twice that?"]) {
    console.log(`> ${question}`);
    const { text } = await session.ask(question);
    console.log(text);
  }
}

if ((process.env["ANTHROPIC_API_KEY"] ?? "") === "") {
  console.error("Set ANTHROPIC_API_KEY to an API key of Anthropic, then run this example again.");
  process.exitCode = 2;
} else {
  await main().catch((error: unknown) => {
    if (!(error instanceof AgentError)) throw error;
    console.error(`${error.kind} (${error.reason}): ${error.message}`);
    process.exitCode = 1;
  });
}
