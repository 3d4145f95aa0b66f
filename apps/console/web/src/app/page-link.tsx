import { Link, useRouterState } from "@tanstack/react-router";
import { useTexts } from "../i18n/use-texts.ts";
import { Tip } from "../ui/tip.tsx";
import type { Page } from "./pages.ts";

/** How everything looks that stands in the navigation. */
export const NAVIGATION_ITEM =
  "group flex min-w-0 flex-1 flex-col items-center justify-center gap-0.5 rounded-lg py-1.5 text-2xs font-medium text-muted hover:bg-hover hover:text-ink aria-[current]:text-accent data-current:text-accent lg:w-full lg:flex-none lg:py-2";
export const NAVIGATION_ICON =
  "flex h-7 w-10 items-center justify-center rounded-lg group-aria-[current]:bg-accent-soft group-data-current:bg-accent-soft";

/** Tells which of these pages is shown, or one that it leads to. */
export function useShownPage(pages: readonly Page[], project: string): Page | undefined {
  const path = useRouterState({ select: ({ location }) => location.pathname });
  return pages.find(({ id }) => path === `/${project}/${id}` || path.startsWith(`/${project}/${id}/`));
}

/** The way to a page. */
export function PageLink({ page, project, isShown }: { page: Page; project: string; isShown: boolean }) {
  const { t } = useTexts();
  const { icon: Icon, keys, link, title } = page;
  return (
    <Tip text={t(title)} keys={keys}>
      <Link {...link(project)} aria-current={isShown ? "page" : undefined} className={NAVIGATION_ITEM}>
        <span className={NAVIGATION_ICON}>
          <Icon aria-hidden className="size-4.5" />
        </span>
        <span className="max-w-full truncate">{t(title)}</span>
      </Link>
    </Tip>
  );
}
