/** A process that runs a transcript and kills itself at the moment given by its arguments. */
import { Counter } from "@moora/testbed/durable/counter";
import { Life, type Death } from "@moora/testbed/durable/mortal-log";
import { runProcess } from "@moora/testbed/durable/processes";
import { transcriptOf } from "@moora/testbed/durable/transcripts/index";
import { TestClock } from "@moora/testbed/test-clock";
import { counterFile, openStore, type Place } from "./stores.ts";

export interface Orders extends Place {
  readonly transcript: string;
  readonly id: string;
  readonly death: Death;
}

/** Nothing that a child does takes as long as this. */
const timeoutMs = 60_000;
setTimeout(() => process.exit(2), timeoutMs).unref();

const orders: Orders = JSON.parse(process.argv[2] ?? "");
const life = new Life(orders.death, () => process.kill(process.pid, "SIGKILL"));
const log = await openStore(orders);
const counter = new Counter(counterFile(orders.folder));
const scene = { log, id: orders.id, counter, clock: new TestClock() };
const { session } = await runProcess(scene, transcriptOf(orders.transcript), life);
await session?.close();
await log.close();
