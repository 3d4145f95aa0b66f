import { useQuery } from "@tanstack/react-query";
import { KeyRound, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import type { KeyItem } from "@svc/contracts";
import { keysQuery, revokeKey } from "../api/administration.ts";
import { useTexts } from "../i18n/texts.ts";
import { useServices, useProject, useRights } from "../session/services.ts";
import { Ago } from "../ui/ago.tsx";
import { Button, IconButton } from "../ui/button.tsx";
import { describeError } from "../ui/describe-error.ts";
import { ConfirmDialog } from "../ui/dialog.tsx";
import { lazyDialog } from "../ui/lazy-dialog.tsx";
import { ErrorNotice, Notice, Skeleton } from "../ui/notice.tsx";
import { Section } from "../ui/page-frame.tsx";
import type { KeyRight } from "./key-dialog.tsx";

const KeyDialog = lazyDialog(async () => (await import("./key-dialog.tsx")).KeyDialog);

/** What keys can be used now. */
const isUsable = ({ revokedAt, expiresAt }: KeyItem) =>
  revokedAt === null && (expiresAt === null || Date.parse(expiresAt) > Date.now());

/** The keys of the project with any of these rights, and a way to make one. */
export function KeysSection({
  text,
  suggestedName,
  rights,
  onMade,
}: {
  text: string;
  suggestedName: string;
  rights: readonly KeyRight[];
  onMade: (key: string) => void;
}) {
  const { t } = useTexts();
  const { connection, queryClient, toasts } = useServices();
  const project = useProject();
  const mayDo = useRights();
  const isAdministrator = mayDo("admin:*");
  const [isMaking, setMaking] = useState(false);
  const [leaving, setLeaving] = useState<KeyItem | null>(null);
  const [isBusy, setBusy] = useState(false);
  const keys = useQuery({ ...keysQuery(connection), enabled: isAdministrator });

  async function revoke({ id, name }: KeyItem) {
    setBusy(true);
    try {
      await revokeKey(connection, id);
      await queryClient.invalidateQueries({ queryKey: keysQuery(connection).queryKey });
      toasts.show({ kind: "done", text: t("apiKeys.revoked", { name }) });
      setLeaving(null);
    } catch (error) {
      toasts.show({ kind: "error", text: describeError(error, t) });
    } finally {
      setBusy(false);
    }
  }

  const wanted = new Set<string>(rights.flatMap(({ scopes }) => scopes));
  const shown = (keys.data ?? []).filter(
    (key) => isUsable(key) && key.project === project && key.scopes.some((scope) => wanted.has(scope)),
  );
  return (
    <Section
      title={t("apiKeys.title")}
      text={text}
      actions={
        isAdministrator && (
          <Button onClick={() => setMaking(true)}>
            <Plus aria-hidden className="size-4" />
            {t("apiKeys.make")}
          </Button>
        )
      }
    >
      {!isAdministrator && <Notice>{t("apiKeys.administratorsOnly")}</Notice>}
      {isAdministrator && keys.isPending && <Skeleton className="h-16 w-full" />}
      {keys.isError && <ErrorNotice error={keys.error} onRetry={() => void keys.refetch()} />}
      {keys.isSuccess && shown.length === 0 && <p className="text-sm text-muted">{t("apiKeys.none", { project })}</p>}
      {shown.length > 0 && (
        <ul className="divide-y divide-line rounded-lg border border-line">
          {shown.map((key) => (
            <li key={key.id} className="flex items-center gap-3 px-3 py-2">
              <KeyRound aria-hidden className="size-4 shrink-0 text-faint max-sm:hidden" />
              <div className="min-w-0 flex-1">
                <p className="truncate text-sm font-medium">{key.name}</p>
                <p className="truncate text-xs text-muted">
                  <code className="font-mono">{key.prefix}…</code> · {key.scopes.join(", ")}
                </p>
              </div>
              <p className="text-right text-xs text-muted max-sm:hidden">
                {key.lastUsedAt === null ? (
                  t("apiKeys.neverUsed")
                ) : (
                  <>
                    {t("apiKeys.lastUsed")} <Ago time={key.lastUsedAt} as="past" />
                  </>
                )}
              </p>
              <IconButton
                icon={Trash2}
                label={t("apiKeys.revoke", { name: key.name })}
                onClick={() => setLeaving(key)}
              />
            </li>
          ))}
        </ul>
      )}
      {isMaking && (
        <KeyDialog suggestedName={suggestedName} rights={rights} onMade={onMade} onClose={() => setMaking(false)} />
      )}
      {leaving !== null && (
        <ConfirmDialog
          title={t("apiKeys.revoke", { name: leaving.name })}
          action={t("apiKeys.revokeNow")}
          isBusy={isBusy}
          onConfirm={() => void revoke(leaving)}
          onClose={() => setLeaving(null)}
        >
          {t("apiKeys.revokeText")}
        </ConfirmDialog>
      )}
    </Section>
  );
}
