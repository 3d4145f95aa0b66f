import type { ProjectItem } from "@svc/contracts";
import { useTexts } from "../i18n/texts.ts";
import { CheckBox, Switch } from "../ui/choice-fields.tsx";
import { Field } from "../ui/field.tsx";

type ReplyEmails = ProjectItem["replyEmails"];
/** Recipients of replies by email; null for none. */
type Recipients = NonNullable<ReplyEmails>["recipients"] | null;

const DELAY_MAX_MINUTES = 1_440;

/** Returns the setting for the values of the fields. */
export const replyEmailsOf = (recipients: Recipients, delay: string): ReplyEmails =>
  recipients === null ? null : { recipients, delayMinutes: Number(delay) };

/** Whether customers who have left get replies by email, the delay, and the allowed addresses. */
export function ReplyEmailFields({
  chosen,
  onChange,
  delay,
}: {
  chosen: Recipients;
  onChange: (recipients: Recipients) => void;
  delay: { value: string; onChange: (value: string) => void };
}) {
  const { t } = useTexts();
  return (
    <fieldset className="flex flex-col gap-3">
      <Switch
        label={t("projects.replyEmails")}
        hint={t("projects.replyEmailsHint")}
        isOn={chosen !== null}
        onChange={(isOn) => onChange(isOn ? "all" : null)}
      />
      {chosen !== null && (
        <>
          <Field
            label={t("projects.replyEmailMinutes")}
            className="max-w-xs"
            type="number"
            inputMode="numeric"
            required
            min={1}
            max={DELAY_MAX_MINUTES}
            step={1}
            {...delay}
          />
          <CheckBox
            label={t("projects.replyEmailVerified")}
            hint={t("projects.replyEmailVerifiedHint")}
            isOn={chosen === "verified"}
            onChange={(isOn) => onChange(isOn ? "verified" : "all")}
          />
        </>
      )}
    </fieldset>
  );
}
