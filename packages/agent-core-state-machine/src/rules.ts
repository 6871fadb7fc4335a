/**
 * The version of the rules: of what the reducer makes of inputs. A change of the reducer that folds a recorded session to another
 * state increases it, so that records and snapshots of other rules are known as such. It never decreases.
 */
export const rulesVersion = 3;
