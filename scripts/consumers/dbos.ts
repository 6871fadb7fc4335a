/** A project with sessions on DBOS that checks the declarations of all packages, and has not installed the types of `pg`. */
import { DBOS } from "@dbos-inc/dbos-sdk";
import { defineAgent } from "@moora/agent";
import { dbosHost, type DbosHost, type LockPool } from "@moora/dbos";
import { postgresLog } from "@moora/event-log-postgres";

const agent = defineAgent({
  llm: { name: "none", call: () => Promise.reject(new Error("There is no model.")) },
});

export const hostWith = (url: string, takeOver: LockPool): DbosHost =>
  dbosHost(agent, { log: postgresLog(url), takeOver });
export const launch = (): Promise<void> => DBOS.launch();
