import { Link, useParams } from "@tanstack/react-router";
import { Fragment, Suspense, lazy, useEffect, useRef } from "react";
import type { ReactNode } from "react";
import { useTexts } from "../i18n/texts.ts";
import { useProject, useRights } from "../session/services.ts";
import { Notice } from "../ui/notice.tsx";
import { MissingPage, PageFrame } from "../ui/page-frame.tsx";
import { AuditSection } from "./audit-section.tsx";
import { CannedSection } from "./canned-section.tsx";
import { DeliveriesSection } from "./deliveries-section.tsx";
import { KeysSection } from "./keys-section.tsx";
import { ModelsSection } from "./models-section.tsx";
import { OperatorsSection } from "./operators-section.tsx";
import { ProjectsSection } from "./projects-section.tsx";
import { SECTIONS } from "./sections.ts";
import type { AdministrationSection } from "./sections.ts";
import { TagsSection } from "./tags-section.tsx";

const WebhooksSection = lazy(async () => ({ default: (await import("./webhooks-section.tsx")).WebhooksSection }));

const TAB =
  "-mb-px inline-flex shrink-0 items-center gap-1.5 border-b-2 border-transparent px-2.5 py-1.5 text-sm font-medium text-muted hover:text-ink aria-[current=page]:border-accent aria-[current=page]:text-ink lg:mb-0 lg:rounded-md lg:border-b-0 lg:hover:bg-hover lg:aria-[current=page]:bg-accent-soft lg:aria-[current=page]:text-accent";

const PARTS: Record<AdministrationSection["id"], () => ReactNode> = {
  keys: KeysSection,
  operators: OperatorsSection,
  projects: ProjectsSection,
  models: ModelsSection,
  tags: TagsSection,
  "canned-replies": CannedSection,
  webhooks: () => (
    <Suspense>
      <WebhooksSection />
    </Suspense>
  ),
  deliveries: DeliveriesSection,
  audit: AuditSection,
};

/**
 * The sections of the administration: a list beside the open one, or above it in a narrow window. It has the
 * sections that the operator's role allows. A link to another one shows which scope it requires.
 */
export function AdministrationPage() {
  const { section: id } = useParams({ from: "/$project/administration/$section" });
  const { t } = useTexts();
  const project = useProject();
  const mayDo = useRights();
  const tabs = useRef<HTMLElement>(null);
  useEffect(() => {
    // If not all of them fit, the open one is scrolled into view.
    tabs.current?.querySelector("[aria-current=page]")?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [id]);
  const section = SECTIONS.find((other) => other.id === id);
  if (section === undefined) return <MissingPage />;
  const Part = PARTS[section.id];
  const shown = SECTIONS.filter(({ scope }) => mayDo(scope));
  return (
    <PageFrame title={t("nav.administration")} text={t("administration.text")}>
      <div className="lg:grid lg:grid-cols-[11rem_minmax(0,1fr)] lg:gap-8">
        <nav
          ref={tabs}
          aria-label={t("nav.administration")}
          className="mb-4 flex gap-1 overflow-x-auto border-b border-line lg:sticky lg:top-4 lg:flex-col lg:gap-0.5 lg:self-start lg:border-b-0"
        >
          {shown.map((other, index) => (
            <Fragment key={other.id}>
              {other.group !== undefined && other.group !== shown[index - 1]?.group && (
                <span className="px-2.5 pt-3 pb-1 text-2xs font-semibold text-faint max-lg:hidden">
                  {t(other.group)}
                </span>
              )}
              <Link to="/$project/administration/$section" params={{ project, section: other.id }} className={TAB}>
                {t(other.title)}
              </Link>
            </Fragment>
          ))}
        </nav>
        <div className="min-w-0">
          {mayDo(section.scope) ? (
            <Part />
          ) : (
            <Notice>
              {t(section.scope === "admin:*" ? "administration.administratorsOnly" : "administration.notAllowed", {
                project,
                scope: section.scope,
              })}
            </Notice>
          )}
        </div>
      </div>
    </PageFrame>
  );
}
