import { connectSession, localPostStorage } from "@moora/client";
import { AgentProvider } from "@moora/react";
import { createRoot } from "react-dom/client";
import type { shopper } from "../agent.ts";
import { App } from "./app.tsx";

const page = document.querySelector("#page");
if (page === null) throw new Error("The page has no #page.");
const root = createRoot(page);
root.render(<p className="notice">Connecting …</p>);

// The address of the page has the id of the session, so that another window can show the same one.
const id = location.hash.slice(1);
try {
  const session = await connectSession<typeof shopper>({
    url: location.origin,
    // What was written offline is sent by the next page, if this one is closed before.
    storage: localPostStorage(),
    ...(id === "" ? { agent: "shopper" } : { id }),
  });
  history.replaceState(null, "", `#${session.id}`);
  addEventListener("hashchange", () => location.reload());
  Object.assign(globalThis, { session });
  root.render(
    <AgentProvider session={session}>
      <App />
    </AgentProvider>,
  );
} catch (error) {
  root.render(<p className="notice">{error instanceof Error ? error.message : String(error)}</p>);
}
