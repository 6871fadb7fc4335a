// An agent with one tool on a model of OpenAI. The answer is printed while it is written.
// Run it: OPENAI_API_KEY=... node_modules/.bin/node --conditions=@moora/source examples/basic-agent.ts "Do I need a coat in Oslo?"
import { AgentError, defineAgent, defineTool, openai, runTask } from "moora";
import { z } from "zod";

const weather = defineTool({
  name: "weather",
  description: "The weather in a city now.",
  replay: "safe",
  input: z.object({ city: z.string() }),
  execute: ({ city }) => ({ city, celsius: 4, sky: "rain" }), // call a weather service of yours here
});

const agent = defineAgent({
  llm: openai("gpt-5.5"),
  tools: [weather],
  systemPrompt: "Answer in one or two sentences.",
});

async function main(task: string): Promise<void> {
  const run = runTask(agent, task);
  for await (const text of run.textStream) process.stdout.write(text);
  const { steps, usage } = await run;
  console.log(`\n${steps} steps, ${usage.inputTokens} input tokens, ${usage.outputTokens} output tokens`);
}

if ((process.env["OPENAI_API_KEY"] ?? "") === "") {
  console.error("Set OPENAI_API_KEY to an API key of OpenAI, then run this example again.");
  process.exitCode = 2;
} else {
  await main(process.argv[2] ?? "Do I need a coat in Oslo?").catch((error: unknown) => {
    if (!(error instanceof AgentError)) throw error;
    console.error(`${error.kind} (${error.reason}): ${error.message}`);
    process.exitCode = 1;
  });
}
