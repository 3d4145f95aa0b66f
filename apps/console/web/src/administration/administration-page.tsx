import type { RequiredScope } from "@svc/contracts";
import { Link, useParams } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
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

/** A part of the administration, with a tab of its own. */
interface AdministrationSection {
  id: "keys" | "operators" | "projects" | "models" | "tags" | "canned-replies" | "deliveries" | "audit";
  title: TextKey;
  /** What somebody must be allowed to see it. */
  scope: RequiredScope;
}

/** The parts of the administration, in the order of their tabs. */
const SECTIONS: readonly AdministrationSection[] = [
  { id: "keys", title: "administration.keys", scope: "admin:*" },
  { id: "operators", title: "administration.operators", scope: "admin:*" },
  { id: "projects", title: "administration.projects", scope: "admin:*" },
  { id: "models", title: "administration.models", scope: "models:read" },
  { id: "tags", title: "administration.tags", scope: "tickets:read" },
  { id: "canned-replies", title: "administration.canned", scope: "tickets:read" },
  { id: "deliveries", title: "administration.deliveries", scope: "webhooks:read" },
  { id: "audit", title: "administration.audit", scope: "audit:read" },
];

const TAB =
  "-mb-px inline-flex shrink-0 items-center gap-1.5 border-b-2 border-transparent px-2.5 py-1.5 text-sm font-medium text-muted hover:text-ink aria-[current=page]:border-accent aria-[current=page]:text-ink";

const PARTS: Record<AdministrationSection["id"], () => ReactNode> = {
  keys: KeysSection,
  operators: OperatorsSection,
  projects: ProjectsSection,
  models: ModelsSection,
  tags: TagsSection,
  "canned-replies": CannedSection,
  deliveries: DeliveriesSection,
  audit: AuditSection,
};

/** Keys, people, projects, and what has happened: one tab each. Whoever may not see one reads why. */
export function AdministrationPage() {
  const { section: id } = useParams({ from: "/$project/administration/$section" });
  const { t } = useTexts();
  const project = useProject();
  const mayDo = useRights();
  const tabs = useRef<HTMLElement>(null);
  useEffect(() => {
    // Where not all of them fit, the one that is open is in sight.
    tabs.current?.querySelector("[aria-current=page]")?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [id]);
  const section = SECTIONS.find((other) => other.id === id);
  if (section === undefined) return <MissingPage />;
  const Part = PARTS[section.id];
  return (
    <PageFrame title={t("nav.administration")} text={t("administration.text")}>
      <nav
        ref={tabs}
        aria-label={t("nav.administration")}
        className="mb-4 flex gap-1 overflow-x-auto border-b border-line"
      >
        {SECTIONS.map((other) => (
          <Link
            key={other.id}
            to="/$project/administration/$section"
            params={{ project, section: other.id }}
            className={TAB}
          >
            {t(other.title)}
          </Link>
        ))}
      </nav>
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
    </PageFrame>
  );
}
