import { CircleCheck, CircleX } from "lucide-react";
import type { Model, UnreachableProvider } from "@svc/contracts";
import { useTexts } from "../i18n/use-texts.ts";
import { Notice } from "../ui/notice.tsx";
import { Section } from "../ui/page-frame.tsx";
import { describeServerError } from "./describe-server-error.ts";

/** Which servers of models answer, and what is wrong with those that do not. */
export function Servers({
  models,
  unreachable,
}: {
  models: readonly Model[];
  unreachable: readonly UnreachableProvider[];
}) {
  const { t } = useTexts();
  const answering = [...new Set(models.filter(({ installed }) => installed).map(({ provider }) => provider))].filter(
    (provider) => unreachable.every((other) => other.provider !== provider),
  );
  return (
    <Section title={t("models.servers")}>
      {answering.length + unreachable.length === 0 && <Notice>{t("models.noServer")}</Notice>}
      <ul className="flex flex-col gap-2 text-sm">
        {answering.map((provider) => (
          <li key={provider} className="flex items-start gap-2">
            <CircleCheck aria-hidden className="mt-0.5 size-4 shrink-0 text-ok" />
            <span>
              <code className="font-mono text-xs font-semibold">{provider}</code> {t("models.answers")}
            </span>
          </li>
        ))}
        {unreachable.map((server) => (
          <li key={server.provider} className="flex items-start gap-2">
            <CircleX aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
            <span className="min-w-0 wrap-anywhere">
              <code className="font-mono text-xs font-semibold">{server.provider}</code>{" "}
              {describeServerError(server, t)}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}
