/** The oldest release of Node that has everything that is used here. */
const oldest: readonly [major: number, minor: number] = [22, 13];

/** Why this version of Node, such as `20.20.2`, cannot run the command line. Undefined when it can. */
export function nodeProblem(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major > oldest[0] || (major === oldest[0] && minor >= oldest[1])) return undefined;
  return `moora needs Node ${oldest.join(".")} or newer, this is ${version}.`;
}
