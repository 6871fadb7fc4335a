import { defineTool, type Tool } from "@moora/agent";
import * as z from "zod";

/** A tool that answers at once and keeps the cities it was asked for. */
export function weatherTool(asked: string[] = []): Tool {
  return defineTool({
    name: "weather",
    description: "The weather in a city now.",
    input: z.object({ city: z.string() }),
    execute({ city }) {
      asked.push(city);
      return { city, celsius: 3 };
    },
  });
}

/** A tool that could do harm. */
export function deleteTool(deleted: string[] = []): Tool {
  return defineTool({
    name: "delete_file",
    description: "Deletes a file.",
    risk: "high",
    input: z.object({ path: z.string() }),
    execute({ path }) {
      deleted.push(path);
      return `deleted ${path}`;
    },
  });
}

export const weatherIn = (city: string): { name: string; arguments: { city: string } } => ({
  name: "weather",
  arguments: { city },
});

export const deletion = (path: string): { name: string; arguments: { path: string } } => ({
  name: "delete_file",
  arguments: { path },
});
