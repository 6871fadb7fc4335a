/**
 * How sure a model was of its text, between 0 and 1: the geometric mean of its tokens' probabilities. Undefined when
 * there is no token.
 */
export function logprobsToConfidence(logprobs: readonly number[]): number | undefined {
  const known = logprobs.filter((logprob) => !Number.isNaN(logprob));
  if (known.length === 0) return undefined;
  const mean = known.reduce((sum, logprob) => sum + logprob, 0) / known.length;
  return Math.min(1, Math.max(0, Math.exp(mean)));
}
