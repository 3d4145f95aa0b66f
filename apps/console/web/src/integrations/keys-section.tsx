import { useQuery } from "@tanstack/react-query";
import { KeyRound, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import type { ComponentProps, ReactNode } from "react";
import type { KeyItem, Scope } from "@svc/contracts";
import { keysQuery } from "../api/administration.ts";
import { CopyBox } from "../forms/copy-box.tsx";
import { FormDialog, FormError } from "../forms/form-dialog.tsx";
import { useAction } from "../forms/use-settings-form.ts";
import { useTexts } from "../i18n/texts.ts";
import type { TextKey } from "../i18n/texts.ts";
import { ShownOnceDialog } from "../lists/resource-page.tsx";
import { useProject, useRights, useServices } from "../session/services.ts";
import { Ago, Badge } from "../ui/badge.tsx";
import { Button, IconButton } from "../ui/button.tsx";
import { CheckBox } from "../ui/choice-fields.tsx";
import { ConfirmDialog } from "../ui/dialog.tsx";
import { Field } from "../ui/field.tsx";
import { Notice, QueryView } from "../ui/notice.tsx";
import { Section } from "../ui/page-frame.tsx";

const SECRET_BYTES = 32;

const base64 = (bytes: Uint8Array) => btoa(String.fromCharCode(...bytes));

function randomBytes(count: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(count));
}

/** Generates a webhook secret in the format of Standard Webhooks: `whsec_` and the base64 of 32 random bytes. */
export const makeWebhookSecret = (): string => `whsec_${base64(randomBytes(SECRET_BYTES))}`;

/** Generates a secret of 32 random bytes, in hex. */
export const makeIdentitySecret = (): string =>
  [...randomBytes(SECRET_BYTES)].map((byte) => byte.toString(16).padStart(2, "0")).join("");

const WIDGET_KEY_BYTES = 24;

/** Generates a key of the widget. It is in the source of pages, so it is not a secret; it only has to be unique. */
export const makeWidgetKey = (): string =>
  `wk_${base64(randomBytes(WIDGET_KEY_BYTES)).replaceAll("+", "-").replaceAll("/", "_")}`;

/** Asks before a secret is removed. */
export function RemoveSecretDialog({
  name,
  ...rest
}: { name: string } & Pick<ComponentProps<typeof ConfirmDialog>, "onConfirm" | "onClose" | "children">) {
  const { t } = useTexts();
  return <ConfirmDialog title={t("secret.removeTitle", { name })} action={t("secret.remove")} {...rest} />;
}

/** A secret that the service stores encrypted: it is created here and shown once, changed, or removed. */
export function SecretControl({
  name,
  isSet,
  disabled,
  make,
  set,
  removeText,
  children,
}: {
  /** Name of the secret, such as "Webhook secret". */
  name: string;
  isSet: boolean;
  disabled: boolean;
  make: () => string;
  /** Saves it; null removes it. */
  set: (secret: string | null) => Promise<void>;
  /** Consequence of its removal. */
  removeText: string;
  /** Fields for the change of a secret. */
  children?: ReactNode;
}) {
  const { t } = useTexts();
  const [made, setMade] = useState<string | null>(null);
  const [isRemoving, setRemoving] = useState(false);
  const { error, isBusy, run } = useAction();

  async function save(secret: string | null) {
    if (await run(() => set(secret))) setMade(secret);
    setRemoving(false);
  }

  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-end gap-x-3 gap-y-2">
        <p className="flex h-8 items-center gap-2 text-sm font-medium">
          {name} <Badge tone={isSet ? "ok" : "plain"}>{t(isSet ? "secret.set" : "secret.none")}</Badge>
        </p>
        {isSet && children}
        <div className="ml-auto flex gap-2">
          {isSet && (
            <Button variant="danger" disabled={disabled} onClick={() => setRemoving(true)}>
              {t("secret.remove")}
            </Button>
          )}
          <Button disabled={disabled} isBusy={isBusy} onClick={() => void save(make())}>
            {t(isSet ? "secret.change" : "secret.make")}
          </Button>
        </div>
      </div>
      {made !== null && (
        <div className="animate-appear flex flex-col gap-2">
          <Notice variant="warn">{t("secret.once")}</Notice>
          <CopyBox label={name} text={made} isWrapped />
        </div>
      )}
      <FormError error={error} />
      {isRemoving && (
        <RemoveSecretDialog name={name} onConfirm={() => save(null)} onClose={() => setRemoving(false)}>
          {removeText}
        </RemoveSecretDialog>
      )}
    </div>
  );
}

/** A permission of a key, and the scopes that it needs. */
export interface KeyRight {
  id: string;
  text: TextKey;
  scopes: readonly Scope[];
  isUsual: boolean;
}

interface KeysSectionProps {
  text: string;
  suggestedName: string;
  rights: readonly KeyRight[];
  /** Receives the key itself. */
  onMade: (key: string) => void;
}

/** Creates a key of the project. */
function NewKeyDialog({
  suggestedName,
  rights,
  onMade,
  onClose,
}: Omit<KeysSectionProps, "text"> & { onClose: () => void }) {
  const { t } = useTexts();
  const { connection, queryClient } = useServices();
  const project = useProject();
  const [name, setName] = useState(suggestedName);
  const [chosen, setChosen] = useState(() => rights.filter(({ isUsual }) => isUsual));
  const [isMissing, setMissing] = useState(false);
  const scopes = [...new Set(chosen.flatMap((right) => right.scopes))];

  async function submit() {
    setMissing(scopes.length === 0);
    if (scopes.length === 0) return;
    const { item } = await connection.call("createKey", null, { body: { name: name.trim(), scopes, project } });
    void queryClient.invalidateQueries({ queryKey: keysQuery(connection).queryKey });
    onMade(item.key ?? "");
  }

  return (
    <FormDialog
      title={t("apiKeys.make")}
      action={t("apiKeys.make")}
      error={isMissing ? t("apiKeys.needsRight") : null}
      onSubmit={submit}
      onClose={onClose}
    >
      <Field
        label={t("apiKeys.name")}
        hint={t("apiKeys.nameHint")}
        value={name}
        maxLength={100}
        required
        onChange={setName}
      />
      <fieldset className="flex flex-col gap-2">
        <legend className="mb-2 text-sm font-medium">{t("apiKeys.rights", { project })}</legend>
        {rights.map((right) => (
          <CheckBox
            key={right.id}
            label={t(right.text)}
            hint={<code className="font-mono text-2xs">{right.scopes.join(" ")}</code>}
            isOn={chosen.includes(right)}
            onChange={(isOn) => setChosen(isOn ? [...chosen, right] : chosen.filter((other) => other !== right))}
          />
        ))}
      </fieldset>
    </FormDialog>
  );
}

function KeyRow({ item: { lastUsedAt, name, prefix, scopes }, onRevoke }: { item: KeyItem; onRevoke: () => void }) {
  const { t } = useTexts();
  return (
    <li className="flex items-center gap-3 px-3 py-2">
      <KeyRound aria-hidden className="size-4 shrink-0 text-faint max-sm:hidden" />
      <div className="min-w-0 flex-1">
        <p className="truncate text-sm font-medium">{name}</p>
        <p className="truncate text-xs text-muted">
          <code className="font-mono">{prefix}…</code> · {scopes.join(", ")}
        </p>
      </div>
      <p className="text-right text-xs text-muted max-sm:hidden">
        {lastUsedAt === null ? (
          t("apiKeys.neverUsed")
        ) : (
          <>
            {t("apiKeys.lastUsed")} <Ago time={lastUsedAt} as="past" />
          </>
        )}
      </p>
      <IconButton icon={Trash2} label={t("apiKeys.revoke", { name })} onClick={onRevoke} />
    </li>
  );
}

const isUsable = ({ revokedAt, expiresAt }: KeyItem) =>
  revokedAt === null && (expiresAt === null || Date.parse(expiresAt) > Date.now());

/** The usable keys of the project with any of these rights, for administrators. */
function KeyList({ rights }: Pick<KeysSectionProps, "rights">) {
  const { t } = useTexts();
  const { connection, queryClient } = useServices();
  const project = useProject();
  const [revoking, setRevoking] = useState<KeyItem | null>(null);
  const { runAside } = useAction();
  const query = keysQuery(connection);
  const keys = useQuery(query);
  const wanted = new Set<string>(rights.flatMap(({ scopes }) => scopes));
  const isShown = (key: KeyItem) =>
    isUsable(key) && key.project === project && key.scopes.some((scope) => wanted.has(scope));

  const revoke = ({ id, name }: KeyItem) =>
    runAside(async () => {
      await connection.call("revokeKey", null, { params: { id } });
      await queryClient.invalidateQueries({ queryKey: query.queryKey });
      setRevoking(null);
      return t("apiKeys.revoked", { name });
    });

  return (
    <QueryView query={keys} skeleton="h-16 w-full">
      {(all) => (
        <>
          {!all.some(isShown) && <p className="text-sm text-muted">{t("apiKeys.none", { project })}</p>}
          {all.some(isShown) && (
            <ul className="divide-y divide-line rounded-lg border border-line">
              {all.filter(isShown).map((item) => (
                <KeyRow key={item.id} item={item} onRevoke={() => setRevoking(item)} />
              ))}
            </ul>
          )}
          {revoking !== null && (
            <ConfirmDialog
              title={t("apiKeys.revoke", { name: revoking.name })}
              action={t("apiKeys.revokeNow")}
              onConfirm={() => revoke(revoking)}
              onClose={() => setRevoking(null)}
            >
              {t("apiKeys.revokeText")}
            </ConfirmDialog>
          )}
        </>
      )}
    </QueryView>
  );
}

/** The keys of the project with any of these rights, and a button that creates one. */
export function KeysSection({ text, suggestedName, rights, onMade }: KeysSectionProps) {
  const { t } = useTexts();
  const isAdministrator = useRights()("admin:*");
  /** The open dialog: "new", or the one with the created key. */
  const [open, setOpen] = useState<"new" | { key: string } | null>(null);
  const close = () => setOpen(null);
  function show(key: string) {
    setOpen({ key });
    onMade(key);
  }
  const button = isAdministrator && (
    <Button icon={Plus} onClick={() => setOpen("new")}>
      {t("apiKeys.make")}
    </Button>
  );
  return (
    <Section title={t("apiKeys.title")} text={text} actions={button}>
      {isAdministrator ? <KeyList rights={rights} /> : <Notice>{t("apiKeys.administratorsOnly")}</Notice>}
      {open === "new" && <NewKeyDialog suggestedName={suggestedName} rights={rights} onMade={show} onClose={close} />}
      {open !== null && open !== "new" && (
        <ShownOnceDialog
          title={t("apiKeys.made")}
          warning={t("apiKeys.once")}
          label={t("apiKeys.key")}
          secret={open.key}
          onClose={close}
        />
      )}
    </Section>
  );
}
