import { describe, expect, it } from "vitest";
import { readHeads } from "../src/read-heads.ts";

const failure = new Error("The ingress cannot be reached.");

/** Sessions of which one cannot be read, and one does not exist. */
const headOf = async (id: string) => {
  if (id === "damaged") throw failure;
  return id === "unknown" ? null : { header: "digest", seq: id.length, digest: "last" };
};

describe("the heads of sessions on Restate", () => {
  it("are read although that of one session cannot be", async () => {
    const heads = await readHeads(headOf, ["a", "damaged", "unknown", "bcd"]);
    expect([...heads]).toEqual([
      ["a", "digest 1"],
      ["damaged", "unread"],
      ["bcd", "digest 3"],
    ]);
  });

  it("reject if none can be read", async () => {
    await expect(readHeads(headOf, ["damaged"])).rejects.toBe(failure);
    expect([...(await readHeads(headOf, []))]).toEqual([]);
  });
});
