import { useState } from "react";
import type { SubmitEvent } from "react";
import { useTexts } from "../i18n/use-texts.ts";
import { Button } from "../ui/button.tsx";
import { Field } from "../ui/field.tsx";

const OLLAMA = "ollama:";

/** Asks for a model that the list does not have, by its name in Ollama's library. */
export function PullForm({ onPull }: { onPull: (catalogId: string) => void }) {
  const { t } = useTexts();
  const [name, setName] = useState("");
  const typed = name.trim();
  function submit(event: SubmitEvent<HTMLFormElement>) {
    event.preventDefault();
    if (typed === "") return;
    onPull(typed.startsWith(OLLAMA) ? typed : OLLAMA + typed);
    setName("");
  }
  return (
    <form onSubmit={submit} className="flex flex-col gap-2">
      <Field
        label={t("models.name")}
        hint={t("models.nameHint")}
        placeholder="qwen3:8b"
        value={name}
        maxLength={300}
        spellCheck={false}
        autoComplete="off"
        autoCapitalize="none"
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
      <Button type="submit" className="self-start" disabled={typed === ""}>
        {t("models.pull")}
      </Button>
    </form>
  );
}
