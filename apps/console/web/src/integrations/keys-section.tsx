import { useQuery } from "@tanstack/react-query";
import { KeyRound, Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import type { KeyItem, Scope } from "@svc/contracts";
import { keysQuery } from "../api/administration.ts";
import { FormDialog } from "../forms/form-dialog.tsx";
import { useAction } from "../forms/use-action.ts";
import { useTexts } from "../i18n/texts.ts";
import type { TextKey } from "../i18n/texts.ts";
import { ShownOnceDialog } from "../lists/resource-page.tsx";
import { useProject, useRights, useServices } from "../session/services.ts";
import { Ago } from "../ui/ago.tsx";
import { Button, IconButton } from "../ui/button.tsx";
import { CheckBox } from "../ui/choice-fields.tsx";
import { ConfirmDialog } from "../ui/dialog.tsx";
import { Field } from "../ui/field.tsx";
import { Notice, QueryView } from "../ui/notice.tsx";
import { Section } from "../ui/page-frame.tsx";

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
