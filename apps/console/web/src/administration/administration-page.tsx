import type { RequiredScope } from "@svc/contracts";
import { Link, useParams } from "@tanstack/react-router";
import { Fragment, Suspense, lazy, useEffect, useRef } from "react";
import type { ReactNode } from "react";
import { useTexts } from "../i18n/texts.ts";
import type { TextKey } from "../i18n/texts.ts";
import { useProject, useRights } from "../session/services.ts";
import { Notice } from "../ui/notice.tsx";
import { MissingPage } from "../ui/error-page.tsx";
import { PageFrame } from "../ui/page-frame.tsx";
import { AuditSection } from "./audit-section.tsx";
import { CannedSection } from "./canned-section.tsx";
import { DeliveriesSection } from "./deliveries-section.tsx";
import { KeysSection } from "./keys-section.tsx";
import { ModelsSection } from "./models-section.tsx";
import { OperatorsSection } from "./operators-section.tsx";
import { ProjectsSection } from "./projects-section.tsx";
import { TagsSection } from "./tags-section.tsx";

const WebhooksSection = lazy(async () => ({ default: (await import("./webhooks-section.tsx")).WebhooksSection }));

/** A section of the administration, with an entry in the list. */
interface AdministrationSection {
  id: "keys" | "operators" | "projects" | "models" | "tags" | "canned-replies" | "webhooks" | "deliveries" | "audit";
  title: TextKey;
  /** Scope that is required to see it. */
  scope: RequiredScope;
  /** Heading above it in the list. */
  group?: TextKey;
}

/** The sections of the administration, in the order of the list. */
const SECTIONS: readonly AdministrationSection[] = [
  { id: "operators", title: "administration.operators", scope: "admin:*" },
  { id: "projects", title: "administration.projects", scope: "admin:*" },
  { id: "models", title: "administration.models", scope: "models:read" },
  { id: "tags", title: "administration.tags", scope: "tickets:read" },
  { id: "canned-replies", title: "administration.canned", scope: "tickets:read" },
  { id: "audit", title: "administration.audit", scope: "audit:read" },
  { id: "keys", title: "administration.keys", scope: "admin:*", group: "administration.developers" },
  { id: "webhooks", title: "administration.webhooks", scope: "webhooks:read" },
  { id: "deliveries", title: "administration.deliveries", scope: "webhooks:read" },
];

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
 * The sections of the administration: a list beside the open one, or above it in a narrow window. An operator without
 * the scope of a section sees which one is required.
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
  return (
    <PageFrame title={t("nav.administration")} text={t("administration.text")}>
      <div className="lg:grid lg:grid-cols-[11rem_minmax(0,1fr)] lg:gap-8">
        <nav
          ref={tabs}
          aria-label={t("nav.administration")}
          className="mb-4 flex gap-1 overflow-x-auto border-b border-line lg:sticky lg:top-4 lg:flex-col lg:gap-0.5 lg:self-start lg:border-b-0"
        >
          {SECTIONS.map((other) => (
            <Fragment key={other.id}>
              {other.group !== undefined && (
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
