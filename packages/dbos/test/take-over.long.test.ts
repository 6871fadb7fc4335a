import { poolOn } from "@moora/testbed/postgres/server";
import { describe, expect, it } from "vitest";
import { isDone, message, Scene } from "./support.ts";

describe(
  "a process with nothing but the lock of its executor, as one of an earlier release",
  { timeout: 240_000 },
  () => {
    it("keeps its workflows while it lives, and another process takes them over when it has ended", async () => {
      await using scene = await Scene.start();
      const pool = poolOn(scene.url);
      const lock = await pool.connect();
      await lock.query("SELECT pg_advisory_lock(hashtextextended('moora-dbos/earlier', 0))");
      // Without a queue, it does not run the workflows of the process that is killed.
      const earlier = await scene.launch({ executor: "earlier", holds: true, listenQueues: [] });
      await earlier.post("ada", message("begun begun begun"));
      await scene.until("ada", () => scene.runs("ada").length === 3);
      const killed = await scene.launch({ executor: "killed", takesOver: true, holds: true });
      await killed.post("eve", message("begun begun begun"));
      await scene.until("eve", () => scene.runs("eve").length === 3);
      await scene.launch({ executor: "next", takesOver: true });
      await killed.kill();
      // The next process has looked at the workflows of both.
      await scene.until("eve", isDone);
      expect(scene.runs("ada")).toHaveLength(3);
      await earlier.kill();
      lock.release(true);
      const { toolCalls } = await scene.until("ada", isDone);
      expect(Object.values(toolCalls).map(({ result }) => result?.isSuccess)).toEqual([true, true, false]);
      await pool.end();
    });
  },
);
