import { defineTool, type Tool, type ToolOutcome } from "@moora/agent-core-effects";
import { after } from "@moora/agent-core-effects/internal";
import type { Handoff } from "@moora/agent-core-state-machine";
import { handOffToolName } from "@moora/agent-core-state-machine/internal";

export interface HandOffOptions {
  /** What the agents are for to which the conversation can be handed, by name. */
  readonly descriptions: ReadonlyMap<string, string>;
  readonly approval?: "always" | "never";
  /** What a handoff to an agent records. */
  readonly handoffTo: (agent: string) => Omit<Handoff, "to" | "message">;
}

/** The tool that hands the conversation to one of some agents. The schema lets the model name only these. */
export function handOffTool({ descriptions, handoffTo, ...options }: HandOffOptions): Tool {
  const agents = [...descriptions].map(([name, description]) => `- ${name}: ${description}`);
  const tool = defineTool({
    name: handOffToolName,
    description: [
      "Hands this conversation over to another agent, which continues it and answers the user in your place. " +
        "Call it in a turn without other calls. The agents are:",
      ...agents,
    ].join("\n"),
    input: {
      type: "object",
      properties: {
        agent: { type: "string", enum: [...descriptions.keys()] },
        message: {
          type: "string",
          description: "What the other agent needs to know: it does not see your tool calls.",
        },
      },
      required: ["agent"],
      additionalProperties: false,
    },
    replay: "safe",
    ...options,
    execute: () => "The other agent has the conversation now.",
  });
  const withHandoff = (outcome: ToolOutcome, parameters: string): ToolOutcome => {
    if (!outcome.isSuccess) return outcome;
    // The arguments fit the schema, because the call has succeeded.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const { agent, message } = JSON.parse(parameters) as {
      readonly agent: string;
      readonly message?: string;
    };
    const noted = message === undefined ? {} : { message: message.toWellFormed() };
    return { ...outcome, handoff: { to: agent, ...handoffTo(agent), ...noted } };
  };
  return {
    ...tool,
    run: (parameters, context) =>
      after(tool.run(parameters, context), (outcome) => withHandoff(outcome, parameters)),
  };
}
