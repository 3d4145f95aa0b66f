import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { kbsQuery } from "../api/kb.ts";
import { useServices } from "../app/services.ts";
import { useProject } from "../app/use-session.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { CheckBox } from "../ui/check-box.tsx";
import { FaultNotice } from "../ui/fault-notice.tsx";
import { Skeleton } from "../ui/skeleton.tsx";

/** The knowledge bases that an agent answers from. */
export function BasesField({
  kbIds,
  fault,
  isDisabled,
  onChange,
}: {
  kbIds: readonly string[];
  fault: string | undefined;
  isDisabled: boolean;
  onChange: (kbIds: string[]) => void;
}) {
  const { t } = useTexts();
  const { connection } = useServices();
  const project = useProject();
  const kbs = useQuery(kbsQuery(connection, project));
  if (kbs.isPending) return <Skeleton className="h-10 w-full" />;
  if (kbs.data === undefined) return <FaultNotice fault={kbs.error} onRetry={() => void kbs.refetch()} />;
  if (kbs.data.length === 0) {
    return (
      <p className="text-sm text-muted">
        {t("agents.noBases")}{" "}
        <Link to="/$project/knowledge" params={{ project }} className="font-medium text-accent hover:underline">
          {t("nav.knowledge")}
        </Link>
      </p>
    );
  }
  return (
    <fieldset className="flex flex-col gap-2.5">
      <legend className="sr-only">{t("nav.knowledge")}</legend>
      {kbs.data.map(({ documents, id, name }) => (
        <CheckBox
          key={id}
          label={<span dir="auto">{name}</span>}
          hint={t("knowledge.documents", { n: documents })}
          isOn={kbIds.includes(id)}
          isDisabled={isDisabled}
          onChange={(isOn) => onChange(isOn ? [...kbIds, id] : kbIds.filter((other) => other !== id))}
        />
      ))}
      {fault !== undefined && <p className="text-xs text-bad">{fault}</p>}
    </fieldset>
  );
}
