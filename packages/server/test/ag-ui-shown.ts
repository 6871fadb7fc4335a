import type { HttpAgent } from "@ag-ui/client";
import type { AgUiScene } from "@moora/testbed/server/ag-ui-scene";

/** What a window shows, in the order of the ids: a client puts what it lacked behind its own new message. */
export const shown = ({ messages }: HttpAgent): readonly unknown[] =>
  messages
    .map(({ id, role, content = "", ...more }) => ({ id, role, content, ...more }))
    .toSorted((one, other) => (one.id < other.id ? -1 : 1));

/** What a new window of the thread shows. */
export async function shownAnew(scene: AgUiScene): Promise<readonly unknown[]> {
  const client = scene.client();
  await client.runAgent();
  return shown(client);
}
