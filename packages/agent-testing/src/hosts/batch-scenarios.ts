import type { HostScenario } from "./host-case.ts";
import { ask, end, hold, reach, releaseAll, reported, restart } from "./steps.ts";

/** How far a tool of the batch has come when the process is killed. */
const phases = ["begun", "worked", "reported"] as const;

type Phase = (typeof phases)[number];

/** The tools of the batch: one of each replay policy. */
const batch = ["read", "write", "pay"] as const;

type Phases = Readonly<Record<(typeof batch)[number], Phase>>;

const momentOf = (phase: Phase): "begin" | "end" => (phase === "begun" ? "begin" : "end");

/** The kill of a batch in these phases. A tool whose result was reported does not run again; `pay` never does. */
function killedIn(at: Phases): HostScenario {
  const isReported = (tool: (typeof batch)[number]): boolean => at[tool] === "reported";
  const areAllReported = batch.every(isReported);
  return {
    name: `killed when read has ${at.read}, write has ${at.write} and pay has ${at.pay}`.replaceAll(
      "has reported",
      "is reported",
    ),
    group: "a batch of three tools",
    needs: ["kill"],
    steps: [
      ...batch.flatMap((tool) => (isReported(tool) ? [] : [hold(tool, momentOf(at[tool]))])),
      // Where all results are reported, the process is killed in the model call that follows.
      ...(areAllReported ? [hold("model", "begin", 2)] : []),
      ask("call read write pay"),
      ...(areAllReported ? [reach("model", 2)] : []),
      ...batch.map((tool) => (isReported(tool) ? reported(tool) : reach(tool, 1, momentOf(at[tool])))),
      restart,
      releaseAll,
      end,
    ],
    expects: {
      control: "Done",
      moments: {
        begin: {
          model: areAllReported ? 3 : 2,
          read: isReported("read") ? 1 : 2,
          write: isReported("write") ? 1 : 2,
          pay: 1,
        },
      },
      results: { read: "success", write: "success", pay: isReported("pay") ? "success" : "outcome-unknown" },
    },
  };
}

/** A batch of three tools, killed in every combination of phases. */
export const batchScenarios: readonly HostScenario[] = phases.flatMap((read) =>
  phases.flatMap((write) => phases.map((pay) => killedIn({ read, write, pay }))),
);
