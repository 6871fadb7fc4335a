import { answerCases } from "./answers.ts";
import { fileCases } from "./files.ts";
import type { ConformanceSubject } from "./harness.ts";
import { historyCases } from "./history.ts";
import { httpFailureCases } from "./http-failures.ts";
import { keyCases } from "./keys.ts";
import { reasoningCases } from "./reasoning.ts";
import { stoppingCases } from "./stopping.ts";
import { Scene } from "./scene.ts";
import { streamFailureCases } from "./stream-failures.ts";
import { toolCases } from "./tools.ts";

const cases = [
  ...answerCases,
  ...toolCases,
  ...historyCases,
  ...fileCases,
  ...reasoningCases,
  ...httpFailureCases,
  ...streamFailureCases,
  ...stoppingCases,
  ...keyCases,
];

/**
 * The contract of the port as test cases for any test framework: `for (const { name, run } of llmConformance(subject))
 * it(name, run)`. A case that needs a feature that the subject does not list is left out. Every case opens its own harness and
 * closes it; `run` rejects with a `ConformanceError` for a caller that violates the contract.
 */
export const llmConformance = (
  subject: ConformanceSubject,
): readonly { readonly name: string; readonly run: () => Promise<void> }[] =>
  cases
    .filter(({ needs }) => needs.every((feature) => subject.features.includes(feature)))
    .map(({ name, setup, run }) => ({
      name,
      run: async () => {
        const harness = await subject.open(setup ?? {});
        try {
          await run(new Scene(harness, subject));
        } finally {
          await harness.close();
        }
      },
    }));
