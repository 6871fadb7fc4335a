// Several tools, one of them on the blacklist, and a model for each type of task.
// Run it: OPENAI_API_KEY=... node_modules/.bin/node --conditions=@moora/source examples/multi-tool-agent.ts
import { AgentBuilder, AgentError, calculatorTool, currentTimeTool, defineTool } from "moora";
import { z } from "zod";

const deleteFile = defineTool({
  name: "delete_file",
  description: "Deletes a file.",
  risk: "critical",
  input: z.object({ path: z.string() }),
  execute: ({ path }) => `${path} is deleted`,
});

/** The task type chooses the model: `modelFor` has one for calculations, `model` is for everything else. */
async function solve(taskType: string, task: string): Promise<void> {
  const engine = new AgentBuilder(task)
    .openai()
    .model("gpt-5.5")
    .modelFor("calculation", "gpt-5.5-mini")
    .taskType(taskType)
    .tool(calculatorTool())
    .tool(currentTimeTool())
    .tool(deleteFile)
    .blacklistTool("delete_file") // not offered to the model; a call of it would be refused
    .maxSteps(8)
    .build();
  console.log(`${taskType}: ${await engine.run()}`);
  engine.trace().print();
}

async function main(): Promise<void> {
  await solve("calculation", "What is 12.5% of 640?");
  await solve("general", "What day of the week is it?");
}

if ((process.env["OPENAI_API_KEY"] ?? "") === "") {
  console.error("Set OPENAI_API_KEY to an API key of OpenAI, then run this example again.");
  process.exitCode = 2;
} else {
  await main().catch((error: unknown) => {
    if (!(error instanceof AgentError)) throw error;
    console.error(`${error.kind} (${error.reason}): ${error.message}`);
    process.exitCode = 1;
  });
}
