import { useState } from "react";
import type { ReactNode, SubmitEvent } from "react";
import { CHANNELS, CHANNEL_IDS } from "@svc/contracts";
import type { ChannelItem, SecretSetting } from "@svc/contracts";
import { useAction } from "../forms/use-settings-form.ts";
import { useTexts } from "../i18n/texts.ts";
import { useRights, useServices } from "../session/services.ts";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";
import { Section } from "../ui/page-frame.tsx";
import { RemoveSecretDialog } from "./keys-section.tsx";
import { useChannelChange } from "./use-channel.ts";

interface SecretFormProps {
  /** Name of the secret, such as "Bot token". */
  name: string;
  isSet: boolean;
  disabled: boolean;
  label: string;
  placeholder?: string | undefined;
  /** Text of the button that saves it. */
  action: string;
  /** Notifications after it is saved or removed. */
  saved: string;
  removed: string;
  /** Consequence of its removal. */
  removeText: string;
  /** Saves it; null removes it. */
  set: (secret: string | null) => Promise<unknown>;
  /** Instructions above the field. */
  children?: ReactNode;
}

/** A secret of a channel from its platform: entered, replaced or removed. */
export function SecretForm({ name, isSet, disabled, set, ...props }: SecretFormProps) {
  const { t } = useTexts();
  const { toasts } = useServices();
  const [secret, setSecret] = useState("");
  const [isRemoving, setRemoving] = useState(false);
  const { error, isBusy, run } = useAction();

  async function save(value: string | null) {
    await run(async () => {
      await set(value);
      setSecret("");
      toasts.show({ kind: "done", text: value === null ? props.removed : props.saved });
    });
    setRemoving(false);
  }
  function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    if (secret.trim() !== "") void save(secret.trim());
  }

  return (
    <Section
      title={name}
      actions={<Badge tone={isSet ? "ok" : "plain"}>{t(isSet ? "secret.set" : "secret.none")}</Badge>}
    >
      {props.children}
      <form onSubmit={submit} className="flex flex-wrap items-start gap-2">
        <Field
          label={props.label}
          placeholder={props.placeholder}
          hint={t("secret.hint")}
          error={error}
          type="password"
          autoComplete="off"
          spellCheck={false}
          value={secret}
          disabled={disabled}
          onChange={setSecret}
          className="min-w-0 flex-1 basis-64"
        />
        <div className="flex gap-2 sm:pt-6">
          {isSet && (
            <Button variant="danger" disabled={disabled} onClick={() => setRemoving(true)}>
              {t("secret.remove")}
            </Button>
          )}
          <Button type="submit" variant="primary" isBusy={isBusy} disabled={disabled || secret.trim() === ""}>
            {props.action}
          </Button>
        </div>
      </form>
      {isRemoving && (
        <RemoveSecretDialog name={name} onConfirm={() => save(null)} onClose={() => setRemoving(false)}>
          {props.removeText}
        </RemoveSecretDialog>
      )}
    </Section>
  );
}

/** The secrets of a channel that has no page of its own. */
export function SecretsPart({ channel }: { channel: ChannelItem }) {
  const { t } = useTexts();
  const id = CHANNEL_IDS.find((one) => one === channel.id);
  const secrets = id === undefined ? [] : Object.entries<SecretSetting>(CHANNELS[id].secrets);
  const mayDo = useRights();
  const change = useChannelChange();
  return (
    <div className="flex max-w-3xl flex-col gap-4">
      {secrets.map(([name, { label }]) => (
        <SecretForm
          key={name}
          name={label}
          isSet={Object.entries(channel.config).some(([key, value]) => key === name && value !== null)}
          disabled={!mayDo("admin:*")}
          label={t("secret.value")}
          action={t("ui.save")}
          saved={t("integrations.saved")}
          removed={t("secret.removed")}
          removeText={t("secret.removeText")}
          set={(value) => change(channel.id, { config: { [name]: value } })}
        />
      ))}
    </div>
  );
}
