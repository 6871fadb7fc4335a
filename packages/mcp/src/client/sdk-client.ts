import type { Client, ClientOptions } from "@modelcontextprotocol/client";
import manifest from "../../package.json" with { type: "json" };
import { loadSdk } from "../load-sdk.ts";
import type { OnElicitation } from "./elicitation.ts";
import { readTools, type ToolList } from "./read-tools.ts";

/** What a client does with what a server sends by itself. */
export interface ClientListeners {
  readonly name: string;
  /** Answers a question of the server. What it throws is reported to the server. */
  readonly onElicitation: OnElicitation;
  /** Whether a server of the older protocol, which asks in the middle of a call, is informed that a person can be asked. */
  readonly elicitsInOlderProtocol: boolean;
  /** Called with the new list, or with the error of reading it. */
  readonly onListChanged: (error: unknown, list: ToolList | undefined) => void;
}

/** Which protocol a client begins with: the older one, or the newer one with the older one as a fallback. */
export type ProtocolMode = "legacy" | "auto";

/** A client of the SDK that is not connected yet. */
export async function sdkClient(listeners: ClientListeners, mode: ProtocolMode): Promise<Client> {
  const { Client: SdkClient } = await loadSdk(
    "@modelcontextprotocol/client",
    () => import("@modelcontextprotocol/client"),
  );
  const { name, onListChanged } = listeners;
  const refresh = async (): Promise<void> => {
    await readTools(name, client).then(
      (read) => onListChanged(undefined, read),
      (error: unknown) => onListChanged(error, undefined),
    );
  };
  const client: Client = new SdkClient(
    { name: "moora", version: manifest.version },
    clientOptions(listeners, mode, () => void refresh()),
  );
  if (canElicit(mode, listeners.elicitsInOlderProtocol)) answerElicitations(client, listeners);
  return client;
}

/** Whether a client declares that a person can be asked. One that may speak the newer protocol does. */
const canElicit = (mode: ProtocolMode, elicitsInOlderProtocol: boolean): boolean =>
  mode === "auto" || elicitsInOlderProtocol;

function clientOptions(
  { elicitsInOlderProtocol }: ClientListeners,
  mode: ProtocolMode,
  onChanged: () => void,
): ClientOptions {
  return {
    capabilities: canElicit(mode, elicitsInOlderProtocol) ? { elicitation: { form: {} } } : {},
    versionNegotiation: { mode },
    listChanged: { tools: { autoRefresh: false, onChanged } },
  };
}

function answerElicitations(client: Client, { name, onElicitation }: ClientListeners): void {
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    if (!("requestedSchema" in params)) return { action: "decline" };
    const { message, requestedSchema } = params;
    // It was parsed from JSON.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const schema = structuredClone(requestedSchema) as unknown as Parameters<OnElicitation>[0]["schema"];
    const answer = await onElicitation({ server: name, message, schema });
    if (answer.action !== "accept") return { action: answer.action };
    const content = Object.entries(answer.content).map(([field, value]): [string, ElicitedContent] => [
      field,
      typeof value === "object" ? [...value] : value,
    ]);
    return { action: "accept", content: Object.fromEntries(content) };
  });
}

type ElicitedContent = string | number | boolean | string[];
