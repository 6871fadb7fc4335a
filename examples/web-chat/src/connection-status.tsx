import { useAgent } from "@moora/react";
import type { JSX } from "react";
import type { shopper } from "../agent.ts";

const texts = {
  connecting: "Connecting …",
  connected: "Connected",
  waiting: "Offline. Messages are sent when the server is back.",
  closed: "The session has ended. Reload the page.",
} as const;

/** Whether the page is connected, and how much waits to be sent. */
export function ConnectionStatus(): JSX.Element {
  const { connection } = useAgent<typeof shopper>();
  const status = connection?.status ?? "connected";
  const count = connection?.pending.length ?? 0;
  return (
    <p className="connection" role="status" data-status={status}>
      {texts[status]}
      {status === "waiting" && count > 0 && ` (${count} waiting)`}
    </p>
  );
}
