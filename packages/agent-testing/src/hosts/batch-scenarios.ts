import type { HostScenario, HostStep } from "./host-case.ts";

/** How far a tool of the batch has come when the process is killed. */
const phases = ["begun", "worked", "reported"] as const;

type Phase = (typeof phases)[number];

/** The tools of the batch: one of each replay policy. */
const batch = ["read", "write", "pay"] as const;

type Phases = Readonly<Record<(typeof batch)[number], Phase>>;

const holdOf = (work: string, phase: Phase): readonly HostStep[] =>
  phase === "reported" ? [] : [{ type: "hold", work, moment: phase === "begun" ? "begin" : "end" }];

const reachOf = (work: string, phase: Phase): HostStep =>
  phase === "reported"
    ? { type: "reported", tool: work }
    : { type: "reach", work, moment: phase === "begun" ? "begin" : "end", times: 1 };

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
      ...batch.flatMap((tool) => holdOf(tool, at[tool])),
      // Where all results are reported, the process is killed in the model call that follows.
      ...(areAllReported ? [{ type: "hold", ...secondCall, from: 2 } as const] : []),
      { type: "ask", message: "call read write pay" },
      ...(areAllReported ? [{ type: "reach", ...secondCall, times: 2 } as const] : []),
      ...batch.map((tool) => reachOf(tool, at[tool])),
      { type: "restart", release: 1 },
      { type: "release-all" },
      { type: "end" },
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

const secondCall = { work: "model", moment: "begin" } as const;

/** A batch of three tools, killed in every combination of phases. */
export const batchScenarios: readonly HostScenario[] = phases.flatMap((read) =>
  phases.flatMap((write) => phases.map((pay) => killedIn({ read, write, pay }))),
);
