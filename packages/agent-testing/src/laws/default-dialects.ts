import { simulatedOrigin, type Dialects } from "./request-laws.ts";

let loaded: Promise<Dialects> | undefined;

/**
 * The default dialects: those of the installed adapters. Without an adapter, only the rules that all providers share are
 * checked.
 */
export const defaultDialects = (): Promise<Dialects> => (loaded ??= load());

async function load(): Promise<Dialects> {
  const openAi = await loadInstalled(
    async () => (await import("../dialects/openai-dialects.ts")).openAiDialects,
  );
  const anthropic = await loadInstalled(async () =>
    (await import("../dialects/anthropic-dialects.ts")).anthropicDialects(simulatedOrigin),
  );
  return { ...openAi, ...anthropic };
}

async function loadInstalled(dialects: () => Promise<Dialects>): Promise<Dialects> {
  try {
    return await dialects();
  } catch (error) {
    if (isMissingModule(error)) return {};
    throw error;
  }
}

const isMissingModule = (error: unknown): boolean =>
  error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND";
