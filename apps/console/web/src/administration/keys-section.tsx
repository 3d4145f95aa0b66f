import { useState } from "react";
import type { KeyItem } from "@svc/contracts";
import { useInfiniteQuery } from "@tanstack/react-query";
import { KeyRound, Plus, RefreshCw, Trash2 } from "lucide-react";
import { keyPagesQuery, revokeKey } from "../api/administration.ts";
import { useAction } from "../forms/use-action.ts";
import { FormError } from "../forms/form-dialog.tsx";
import { useTexts } from "../i18n/texts.ts";
import { PagedList, ShownOnceDialog } from "../lists/paged-list.tsx";
import { useServices, useCommands } from "../session/services.ts";
import { Ago, useNow } from "../ui/ago.tsx";
import { Badge } from "../ui/badge.tsx";
import { Button, IconButton } from "../ui/button.tsx";
import { Dialog, ConfirmDialog } from "../ui/dialog.tsx";
import { SelectField } from "../ui/field.tsx";
import { EmptyState } from "../ui/notice.tsx";
import { KeyForm } from "./key-form.tsx";

const HOUR_SECONDS = 3_600;
/** How long the old key works on. */
const OVERLAPS = [0, HOUR_SECONDS, 24 * HOUR_SECONDS, 7 * 24 * HOUR_SECONDS] as const;

/** Makes a key in the place of another one. */
function RotateDialog({
  item: { id, name },
  onMade,
  onClose,
}: {
  item: KeyItem;
  onMade: (key: string) => void;
  onClose: () => void;
}) {
  const { duration, t } = useTexts();
  const { connection, queryClient } = useServices();
  const [overlapSeconds, setOverlap] = useState<number>(24 * HOUR_SECONDS);
  const { error, isBusy, run } = useAction();

  const rotate = () =>
    run(async () => {
      const { item } = await connection.call("rotateKey", null, { params: { id }, body: { overlapSeconds } });
      void queryClient.invalidateQueries({ queryKey: ["keys"] });
      onMade(item.key ?? "");
    });

  return (
    <Dialog
      title={t("adminKeys.rotate", { name })}
      width="small"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t("ui.cancel")}</Button>
          <Button look="primary" isBusy={isBusy} onClick={() => void rotate()}>
            {t("adminKeys.rotateNow")}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4 p-4">
        <p className="text-sm">{t("adminKeys.rotateText")}</p>
        <SelectField
          label={t("adminKeys.overlap")}
          value={String(overlapSeconds)}
          options={OVERLAPS.map((seconds) => ({
            value: String(seconds),
            label: seconds === 0 ? t("adminKeys.overlapNone") : duration(seconds * 1_000),
          }))}
          onChange={({ currentTarget }) => setOverlap(Number(currentTarget.value))}
        />
        <FormError error={error} />
      </div>
    </Dialog>
  );
}

type KeyState = "usable" | "expired" | "revoked";

function stateOf({ expiresAt, revokedAt }: KeyItem, nowMs: number): KeyState {
  if (revokedAt !== null) return "revoked";
  return expiresAt !== null && Date.parse(expiresAt) <= nowMs ? "expired" : "usable";
}

function KeyRow({ item, onRotate, onRevoke }: { item: KeyItem; onRotate: () => void; onRevoke: () => void }) {
  const { dateTime, t } = useTexts();
  const state = stateOf(item, useNow());
  const { expiresAt, lastUsedAt, name, prefix, project, scopes } = item;
  return (
    <div className="flex items-start gap-3">
      <KeyRound aria-hidden className="mt-0.5 size-4 shrink-0 text-faint max-sm:hidden" />
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <span className="truncate text-sm font-medium" dir="auto">
            {name}
          </span>
          <Badge tone={project === null ? "warn" : "plain"}>{project ?? t("adminKeys.all")}</Badge>
          {state !== "usable" && <Badge tone="bad">{t(`adminKeys.${state}`)}</Badge>}
        </p>
        <p className="text-xs wrap-anywhere text-muted">
          <code className="font-mono">{prefix}…</code> · {scopes.join(", ")}
        </p>
        <p className="text-xs text-muted">
          {expiresAt !== null && state === "usable" && `${t("adminKeys.until", { time: dateTime(expiresAt) })} · `}
          {lastUsedAt === null ? (
            t("apiKeys.neverUsed")
          ) : (
            <>
              {t("apiKeys.lastUsed")} <Ago time={lastUsedAt} as="past" />
            </>
          )}
        </p>
      </div>
      {state === "usable" && <IconButton icon={RefreshCw} label={t("adminKeys.rotate", { name })} onClick={onRotate} />}
      {state !== "revoked" && <IconButton icon={Trash2} label={t("apiKeys.revoke", { name })} onClick={onRevoke} />}
    </div>
  );
}

/** What is being done with the keys. */
type Doing = { kind: "make" } | { kind: "rotate" | "revoke"; item: KeyItem } | { kind: "show"; key: string } | null;

/** The keys of all projects. */
export function KeysSection() {
  const { t } = useTexts();
  const { connection, queryClient, toasts } = useServices();
  const [doing, setDoing] = useState<Doing>(null);
  const { isBusy, runAside } = useAction();
  const keys = useInfiniteQuery(keyPagesQuery(connection));
  const close = () => setDoing(null);
  const make = () => setDoing({ kind: "make" });
  useCommands([{ id: "new-key", title: t("apiKeys.make"), group: "page", keys: "c", run: make }]);

  const revoke = ({ id, name }: KeyItem) =>
    runAside(async () => {
      await revokeKey(connection, id);
      await queryClient.invalidateQueries({ queryKey: ["keys"] });
      toasts.show({ kind: "done", text: t("apiKeys.revoked", { name }) });
      close();
    });

  const button = (
    <Button look="primary" onClick={make} keys="c">
      <Plus aria-hidden className="size-4" />
      {t("apiKeys.make")}
    </Button>
  );
  return (
    <>
      <div className="mb-4 flex flex-wrap items-center justify-between gap-3">
        <p className="max-w-2xl text-sm text-muted">{t("adminKeys.text")}</p>
        {button}
      </div>
      <PagedList
        query={keys}
        label={t("administration.keys")}
        empty={
          <EmptyState icon={KeyRound} title={t("adminKeys.none")} text={t("adminKeys.noneText")}>
            {button}
          </EmptyState>
        }
      >
        {(item) => (
          <KeyRow
            item={item}
            onRotate={() => setDoing({ kind: "rotate", item })}
            onRevoke={() => setDoing({ kind: "revoke", item })}
          />
        )}
      </PagedList>
      {doing?.kind === "make" && <KeyForm onMade={(key) => setDoing({ kind: "show", key })} onClose={close} />}
      {doing?.kind === "rotate" && (
        <RotateDialog item={doing.item} onMade={(key) => setDoing({ kind: "show", key })} onClose={close} />
      )}
      {doing?.kind === "show" && (
        <ShownOnceDialog
          title={t("apiKeys.made")}
          warning={t("apiKeys.once")}
          label={t("apiKeys.key")}
          secret={doing.key}
          onClose={close}
        />
      )}
      {doing?.kind === "revoke" && (
        <ConfirmDialog
          title={t("apiKeys.revoke", { name: doing.item.name })}
          action={t("apiKeys.revokeNow")}
          isBusy={isBusy}
          onConfirm={() => void revoke(doing.item)}
          onClose={close}
        >
          {t("apiKeys.revokeText")}
        </ConfirmDialog>
      )}
    </>
  );
}
