/**
 * The confidence of a model in its text, from 0 to 1: the geometric mean of the probabilities of its tokens. Undefined
 * for an answer without tokens; log-probabilities that are not a number are ignored.
 */
export function logprobsToConfidence(logprobs: readonly number[]): number | undefined {
  const known = logprobs.filter((logprob) => !Number.isNaN(logprob));
  if (known.length === 0) return undefined;
  const mean = known.reduce((sum, logprob) => sum + logprob, 0) / known.length;
  return Math.min(1, Math.max(0, Math.exp(mean)));
}
