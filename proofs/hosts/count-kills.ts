import type { ConformanceHost, PreparedHost, ProcessOptions } from "@moora/agent-testing/hosts";

/** How many processes of a host have ended as a crash ends them. */
export interface Kills {
  kills: number;
}

/** A host that counts the kills of its processes, and their deaths at a record. */
export const countKills = (host: ConformanceHost, counted: Kills): ConformanceHost => ({
  ...host,
  prepare: async (setup) => countingKills(await host.prepare(setup), counted),
});

function countingKills(prepared: PreparedHost, counted: Kills): PreparedHost {
  const counting: Pick<PreparedHost, "start" | "kill"> = {
    async start(options: ProcessOptions = {}) {
      const { onDeath } = options;
      if (onDeath === undefined) return await prepared.start(options);
      const died = (): void => {
        counted.kills += 1;
        onDeath();
      };
      return await prepared.start({ ...options, onDeath: died });
    },
    async kill() {
      counted.kills += 1;
      await prepared.kill?.();
    },
  };
  return new Proxy(prepared, {
    get(target, name) {
      if (name === "start" || name === "kill") return counting[name];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}
