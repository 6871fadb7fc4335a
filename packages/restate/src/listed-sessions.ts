import { LogError, type LogInfo } from "@moora/event-log";
import { sortById } from "@moora/event-log/store";
import { callTimeout } from "./log-calls.ts";
import { fieldsOf } from "./posted-inputs.ts";

/** The sessions of a service, by the admin API of the server. Rejects with `LogError`, also if that does not answer in time. */
export async function listSessions(adminUrl: string, service: string): Promise<readonly LogInfo[]> {
  const query =
    "SELECT service_key, key, value_utf8 FROM state " +
    `WHERE service_name = '${service}' AND key IN ('header', 'head')`;
  try {
    return toSessions(await readRows(adminUrl, query));
  } catch (error) {
    throw new LogError("LogWrite", "Cannot list the sessions on Restate.", { cause: error });
  }
}

/** The sessions of rows of the state of their objects. Throws for a value that is not JSON. */
function toSessions(rows: readonly unknown[]): readonly LogInfo[] {
  const headers = new Map<string, string>();
  const heads = new Map<string, number>();
  for (const row of rows) {
    const { service_key: id, key, value_utf8: json } = fieldsOf(row);
    if (typeof id !== "string" || typeof json !== "string") continue;
    const value: unknown = JSON.parse(json);
    if (key === "header" && typeof value === "string") headers.set(id, value);
    if (key === "head") heads.set(id, Number(fieldsOf(value)["seq"]));
  }
  return sortById([...headers].map(([id, header]) => ({ id, head: heads.get(id) ?? 0, header })));
}

async function readRows(adminUrl: string, query: string): Promise<readonly unknown[]> {
  const response = await fetch(`${adminUrl.replace(/\/+$/, "")}/query`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify({ query }),
    signal: callTimeout(),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`The admin API answered with ${response.status}: ${text}`);
  const { rows } = fieldsOf(JSON.parse(text));
  if (Array.isArray(rows)) return rows;
  throw new Error("The answer of the admin API has no rows.");
}
