import { useAction } from "../forms/use-settings-form.ts";
import { useServices } from "../session/services.ts";

/** Unsaved text of an article, as this browser stores it. */
interface StoredArticle {
  title?: string;
  text?: string;
  /** The version that it is based on; absent for an article that is not saved yet. */
  revision?: number;
  version?: number;
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

/** Returns the unsaved article in a stored text; empty if there is none. */
export function readStoredArticle(stored: string | null): StoredArticle {
  if (stored === null) return {};
  try {
    const given: unknown = JSON.parse(stored);
    if (!isRecord(given)) return {};
    const { revision, text, title, version } = given;
    return {
      ...(typeof title === "string" ? { title } : {}),
      ...(typeof text === "string" ? { text } : {}),
      ...(typeof revision === "number" && typeof version === "number" ? { revision, version } : {}),
    };
  } catch {
    // Something else is stored under this name.
    return {};
  }
}

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
