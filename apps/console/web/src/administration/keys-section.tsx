import { useState } from "react";
import type { KeyItem, RequiredScope } from "@svc/contracts";
import { useInfiniteQuery } from "@tanstack/react-query";
import { KeyRound, RefreshCw, Trash2 } from "lucide-react";
import { keyPagesQuery } from "../api/administration.ts";
import { FormDialog, useFields } from "../forms/form-dialog.tsx";
import { useAction } from "../forms/use-settings-form.ts";
import { useTexts } from "../i18n/texts.ts";
import { ResourcePage, ShownOnceDialog } from "../lists/resource-page.tsx";
import { useProject, useServices, useSession } from "../session/services.ts";
import { Ago, Badge, useNow } from "../ui/badge.tsx";
import { IconButton } from "../ui/button.tsx";
import { CheckBox } from "../ui/choice-fields.tsx";
import { ConfirmDialog } from "../ui/dialog.tsx";
import { Field, SelectField } from "../ui/field.tsx";
import { Notice } from "../ui/notice.tsx";

interface KeyDialogProps {
  /** Receives the key itself, which is shown only once. */
  onMade: (key: string) => void;
  onClose: () => void;
}

/** The scopes for keys, by resource. Scopes that no operation needs are omitted. */
const KEY_SCOPES = {
  messages: ["messages:read", "messages:write"],
  tickets: ["tickets:read", "tickets:write"],
  kb: ["kb:read", "kb:write"],
  agents: ["agents:read", "agents:execute", "agents:write"],
  models: ["models:read", "models:write"],
  channels: ["channels:read"],
  webhooks: ["webhooks:read", "webhooks:write"],
  audit: ["audit:read"],
  privacy: ["privacy:read", "privacy:write"],
} as const satisfies Record<string, readonly RequiredScope[]>;

/** Chooses the scopes of a key; null for an administrator's key. */
function ScopesField({
  scopes: chosen,
  onChange,
}: {
  scopes: readonly RequiredScope[] | null;
  onChange: (scopes: RequiredScope[] | null) => void;
}) {
  const { t } = useTexts();
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-2 text-sm font-medium">{t("adminKeys.scopes")}</legend>
      <CheckBox
        label={t("adminKeys.administrator")}
        hint={<code className="font-mono text-2xs">admin:*</code>}
        isOn={chosen === null}
        onChange={(isOn) => onChange(isOn ? null : [])}
      />
      {chosen === null ? (
        <Notice variant="warn">{t("adminKeys.administratorText")}</Notice>
      ) : (
        <ul className="divide-y divide-line rounded-lg border border-line">
          {Object.entries(KEY_SCOPES).map(([resource, scopes]) => (
            <li key={resource} className="flex flex-wrap gap-x-5 gap-y-2 px-3 py-2">
              {scopes.map((scope) => (
                <div key={scope} className="w-36">
                  <CheckBox
                    label={<code className="font-mono text-xs">{scope}</code>}
                    isOn={chosen.includes(scope)}
                    onChange={(isOn) => onChange(isOn ? [...chosen, scope] : chosen.filter((other) => other !== scope))}
                  />
                </div>
              ))}
            </li>
          ))}
        </ul>
      )}
    </fieldset>
  );
}

/** Returns today (`YYYY-MM-DD`) in the time zone of the browser. */
function today(): string {
  const day = new Date();
  return [day.getFullYear(), day.getMonth() + 1, day.getDate()].map((part) => String(part).padStart(2, "0")).join("-");
}

/** Returns the end of a day (`YYYY-MM-DD`) in the time zone of the browser, as RFC 3339. */
const endOf = (day: string) => new Date(`${day}T23:59:59`).toISOString();

/** Creates a key. */
function NewKeyDialog({ onMade, onClose }: KeyDialogProps) {
  const { t } = useTexts();
  const { connection, queryClient } = useServices();
  const { projects } = useSession();
  const { values, field } = useFields({ name: "", project: useProject(), lastDay: "" });
  const [scopes, setScopes] = useState<RequiredScope[] | null>([]);
  const [needsScope, setNeedsScope] = useState(false);

  async function submit() {
    setNeedsScope(scopes?.length === 0);
    if (scopes?.length === 0) return;
    const { item } = await connection.call("createKey", null, {
      body: {
        name: values.name.trim(),
        ...(scopes === null ? { scopes: ["admin:*"] } : { scopes, project: values.project }),
        ...(values.lastDay === "" ? {} : { expiresAt: endOf(values.lastDay) }),
      },
    });
    void queryClient.invalidateQueries({ queryKey: ["keys"] });
    onMade(item.key ?? "");
  }

  return (
    <FormDialog
      title={t("apiKeys.make")}
      action={t("apiKeys.make")}
      error={needsScope ? t("apiKeys.needsRight") : null}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field label={t("apiKeys.name")} hint={t("apiKeys.nameHint")} maxLength={100} required {...field("name")} />
      <div className="grid gap-4 sm:grid-cols-2">
        <SelectField
          label={t("project.label")}
          hint={t(scopes === null ? "adminKeys.allProjects" : "adminKeys.projectHint")}
          disabled={scopes === null}
          options={projects.map(({ name }) => ({ value: name, label: name }))}
          {...field("project")}
        />
        <Field
          label={t("adminKeys.lastDay")}
          hint={t("adminKeys.lastDayHint")}
          type="date"
          min={today()}
          max="9999-12-30"
          {...field("lastDay")}
        />
      </div>
      <ScopesField scopes={scopes} onChange={setScopes} />
    </FormDialog>
  );
}

const HOUR_SECONDS = 3_600;
/** Choices for how long the old key remains valid. */
const OVERLAPS = [0, HOUR_SECONDS, 24 * HOUR_SECONDS, 7 * 24 * HOUR_SECONDS] as const;

/** Creates a key that replaces another one. */
function RotateDialog({ item: { id, name }, onMade, onClose }: KeyDialogProps & { item: KeyItem }) {
  const { duration, t } = useTexts();
  const { connection, queryClient } = useServices();
  const { values, field } = useFields({ overlap: String(24 * HOUR_SECONDS) });

  async function rotate() {
    const body = { overlapSeconds: Number(values.overlap) };
    const { item } = await connection.call("rotateKey", null, { params: { id }, body });
    void queryClient.invalidateQueries({ queryKey: ["keys"] });
    onMade(item.key ?? "");
  }

  return (
    <FormDialog
      title={t("adminKeys.rotate", { name })}
      width="small"
      action={t("adminKeys.rotateNow")}
      onSubmit={rotate}
      onClose={onClose}
    >
      <p className="text-sm">{t("adminKeys.rotateText")}</p>
      <SelectField
        label={t("adminKeys.overlap")}
        options={OVERLAPS.map((seconds) => ({
          value: String(seconds),
          label: seconds === 0 ? t("adminKeys.overlapNone") : duration(seconds * 1_000),
        }))}
        {...field("overlap")}
      />
    </FormDialog>
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

/** The dialog that is open. */
type Open = { kind: "make" } | { kind: "show"; key: string } | { kind: "rotate" | "revoke"; item: KeyItem } | null;

/** The API keys of all projects. */
export function KeysSection() {
  const { t } = useTexts();
  const { connection, queryClient, toasts } = useServices();
  const [open, setOpen] = useState<Open>(null);
  const { runAside } = useAction();
  const keys = useInfiniteQuery(keyPagesQuery(connection));
  const dialog = { onMade: (key: string) => setOpen({ kind: "show", key }), onClose: () => setOpen(null) };

  const revoke = ({ id, name }: KeyItem) =>
    runAside(async () => {
      await connection.call("revokeKey", null, { params: { id } });
      await queryClient.invalidateQueries({ queryKey: ["keys"] });
      toasts.show({ kind: "done", text: t("apiKeys.revoked", { name }) });
      setOpen(null);
    });

  return (
    <>
      <ResourcePage
        query={keys}
        label={t("administration.keys")}
        head={t("adminKeys.text")}
        create={{ id: "new-key", title: t("apiKeys.make"), run: () => setOpen({ kind: "make" }) }}
        icon={KeyRound}
        empty={{ title: t("adminKeys.none"), text: t("adminKeys.noneText") }}
      >
        {(item) => (
          <KeyRow
            item={item}
            onRotate={() => setOpen({ kind: "rotate", item })}
            onRevoke={() => setOpen({ kind: "revoke", item })}
          />
        )}
      </ResourcePage>
      {open?.kind === "make" && <NewKeyDialog {...dialog} />}
      {open?.kind === "rotate" && <RotateDialog item={open.item} {...dialog} />}
      {open?.kind === "show" && (
        <ShownOnceDialog
          title={t("apiKeys.made")}
          warning={t("apiKeys.once")}
          label={t("apiKeys.key")}
          secret={open.key}
          onClose={dialog.onClose}
        />
      )}
      {open?.kind === "revoke" && (
        <ConfirmDialog
          title={t("apiKeys.revoke", { name: open.item.name })}
          action={t("apiKeys.revokeNow")}
          onConfirm={() => revoke(open.item)}
          onClose={dialog.onClose}
        >
          {t("apiKeys.revokeText")}
        </ConfirmDialog>
      )}
    </>
  );
}
