import { hostConformance, logHost } from "@moora/agent-testing/hosts";
import { indexedDbStorage } from "@moora/testbed/indexeddb-storage";

const host = logHost("IndexedDB", () => indexedDbStorage());

// Runs the case of which the page sends the name, in this worker. Answers with its error, or with nothing.
addEventListener("message", ({ data }: MessageEvent<string>) => {
  const found = hostConformance(host).find(({ name }) => name === data);
  const run = async (): Promise<void> => {
    if (found === undefined) throw new Error(`There is no case ${JSON.stringify(data)}.`);
    await found.run();
  };
  run().then(
    () => postMessage(""),
    (error: unknown) => postMessage(String(error)),
  );
});
