/**
 * What a server costs, beside its sessions. The readers run in this process, the servers in processes of their own.
 *
 *   server.ts [--sessions 100] [--streams 10000] [--samples 7] [--loops 60] [--takeOvers 5]
 */
import { parseArgs } from "node:util";
import { table } from "./harness/table.ts";
import { machineText } from "./packed/machine-text.ts";
import { measureLoops } from "./server/measure-loops.ts";
import { measureStreams } from "./server/measure-streams.ts";
import { measureTakeOvers } from "./server/measure-take-over.ts";

const { values } = parseArgs({
  options: {
    sessions: { type: "string", default: "100" },
    streams: { type: "string", default: "10000" },
    /** Samples of each way to run a loop, and the loops of a sample. */
    samples: { type: "string", default: "7" },
    loops: { type: "string", default: "60" },
    takeOvers: { type: "string", default: "5" },
  },
});

const rows = [
  ...(await measureStreams(Number(values.sessions), Number(values.streams))),
  ...(await measureLoops({ samples: Number(values.samples), loops: Number(values.loops) })),
  ...(await measureTakeOvers(Number(values.takeOvers))),
];
console.log(`${table(["server", ""], rows)}\n${machineText()}`);
