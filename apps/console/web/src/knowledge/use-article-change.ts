import { useAction } from "../forms/use-action.ts";
import { useServices } from "../session/services.ts";

/** Returns a function that changes the article, confirms the change, and refetches it. */
export function useArticleChange() {
  const { queryClient } = useServices();
  const { isBusy, runAside } = useAction();
  async function change(work: () => Promise<string | void>) {
    await runAside(async () => {
      const done = await work();
      await Promise.all(
        ["article", "articles", "article-versions", "gaps"].map((name) =>
          queryClient.invalidateQueries({ queryKey: [name] }),
        ),
      );
      return done;
    });
  }
  return { isBusy, change };
}
