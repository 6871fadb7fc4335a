import { useState } from "react";

/** What posts: returns what the post gave, and undefined if it was refused. */
type Post = <Result>(begin: () => Promise<Result>) => Promise<Result | undefined>;

/** Posts, and keeps why the last post was refused, such as a message that is too large, for the page to show. */
export function usePost(): readonly [problem: string, post: Post] {
  const [problem, setProblem] = useState("");
  const post: Post = async (begin) => {
    setProblem("");
    try {
      return await begin();
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
      return undefined;
    }
  };
  return [problem, post];
}
