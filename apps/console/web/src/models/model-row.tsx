import { Download, Square } from "lucide-react";
import type { Model, ModelPullProgress } from "@svc/contracts";
import { useTexts } from "../i18n/use-texts.ts";
import { formatBytes } from "../knowledge/format-bytes.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { FaultNotice } from "../ui/fault-notice.tsx";
import { PullBar } from "./pull-bar.tsx";

/** What of a model is shown; of one that no list has yet, only its id is known. */
export type ShownModel = Pick<Model, "catalogId"> & Partial<Model>;

/** One model: what it is, who uses it, and its pull. */
export function ModelRow({
  model: { catalogId, contextWindow = null, installed, local, provider, sizeBytes = null },
  users,
  pulling,
  fault,
  mayWrite,
  onPull,
  onCancel,
}: {
  model: ShownModel;
  /** Names of the agents that answer with it. */
  users: readonly string[];
  /** How far its pull is; null where there is none, "begun" before anything is known. */
  pulling: ModelPullProgress | "begun" | null;
  fault: unknown;
  mayWrite: boolean;
  onPull: () => void;
  onCancel: () => void;
}) {
  const texts = useTexts();
  const { number, t } = texts;
  const facts = [
    ...(sizeBytes === null ? [] : [formatBytes(sizeBytes, texts)]),
    ...(contextWindow === null ? [] : [t("models.context", { count: number(contextWindow) })]),
    ...(users.length === 0 ? [] : [t("models.usedBy", { names: users.join(", ") })]),
  ];
  return (
    <div className="flex flex-wrap items-start gap-x-3 gap-y-2">
      <div className="min-w-0 flex-1 basis-56">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <code className="font-mono text-sm font-medium wrap-anywhere">{catalogId}</code>
          {installed === true && <Badge tone="ok">{t("models.usable")}</Badge>}
          {provider !== undefined && <Badge>{t(local === true ? "models.local" : "models.away")}</Badge>}
        </p>
        {facts.length > 0 && <p className="text-xs wrap-anywhere text-muted">{facts.join(" · ")}</p>}
        {pulling !== null && <PullBar model={catalogId} progress={pulling === "begun" ? null : pulling} />}
        {fault !== null && (
          <div className="mt-2">
            <FaultNotice fault={fault} {...(mayWrite ? { onRetry: onPull } : {})} />
          </div>
        )}
      </div>
      {mayWrite && pulling !== null && (
        <Button size="small" aria-label={t("models.cancelOf", { model: catalogId })} onClick={onCancel}>
          <Square aria-hidden className="size-3.5" />
          {t("models.cancel")}
        </Button>
      )}
      {mayWrite && pulling === null && fault === null && installed === false && (
        <Button size="small" aria-label={t("models.pullOf", { model: catalogId })} onClick={onPull}>
          <Download aria-hidden className="size-3.5" />
          {t("models.pull")}
        </Button>
      )}
    </div>
  );
}
