import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Scope } from "@svc/contracts";
import { createKey, keysQuery } from "../api/administration.ts";
import { CopyBox } from "../forms/copy-box.tsx";
import { FormDialog } from "../forms/form-dialog.tsx";
import { useTexts } from "../i18n/texts.ts";
import type { TextKey } from "../i18n/texts.ts";
import { useServices, useProject } from "../session/services.ts";
import { Button } from "../ui/button.tsx";
import { CheckBox } from "../ui/choice-fields.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Field } from "../ui/field.tsx";
import { Notice } from "../ui/notice.tsx";

/** Something that a key can be allowed, and the scopes that this takes. */
export interface KeyRight {
  id: string;
  text: TextKey;
  scopes: readonly Scope[];
  isUsual: boolean;
}

/** Makes a key of the project, and shows it this once. */
export function KeyDialog({
  suggestedName,
  rights,
  onMade,
  onClose,
}: {
  suggestedName: string;
  rights: readonly KeyRight[];
  /** Is told the key itself. */
  onMade: (key: string) => void;
  onClose: () => void;
}) {
  const { t } = useTexts();
  const { connection } = useServices();
  const queryClient = useQueryClient();
  const project = useProject();
  const [name, setName] = useState(suggestedName);
  const [chosen, setChosen] = useState(() => new Set(rights.filter(({ isUsual }) => isUsual).map(({ id }) => id)));
  const [made, setMade] = useState<string | null>(null);
  const [isMissing, setMissing] = useState(false);
  const scopes = [...new Set(rights.filter(({ id }) => chosen.has(id)).flatMap((right) => right.scopes))];

  async function submit() {
    setMissing(scopes.length === 0);
    if (scopes.length === 0) return;
    const { key = "" } = await createKey(connection, { name: name.trim(), scopes, project });
    setMade(key);
    onMade(key);
    void queryClient.invalidateQueries({ queryKey: keysQuery(connection).queryKey });
  }

  const toggle = (id: string, isOn: boolean) =>
    setChosen((known) => {
      const next = new Set(known);
      if (isOn) next.add(id);
      else next.delete(id);
      return next;
    });

  if (made !== null) {
    return (
      <Dialog
        key="made"
        title={t("apiKeys.made")}
        onClose={onClose}
        footer={
          <Button look="primary" onClick={onClose}>
            {t("apiKeys.kept")}
          </Button>
        }
      >
        <div className="flex flex-col gap-3 p-4">
          <Notice look="warn">{t("apiKeys.once")}</Notice>
          <CopyBox label={t("apiKeys.key")} text={made} isWrapped />
        </div>
      </Dialog>
    );
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
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
      <fieldset className="flex flex-col gap-2">
        <legend className="mb-2 text-sm font-medium">{t("apiKeys.rights", { project })}</legend>
        {rights.map(({ id, scopes: needed, text }) => (
          <CheckBox
            key={id}
            label={t(text)}
            hint={<code className="font-mono text-2xs">{needed.join(" ")}</code>}
            isOn={chosen.has(id)}
            onChange={(isOn) => toggle(id, isOn)}
          />
        ))}
      </fieldset>
    </FormDialog>
  );
}
