import { useNavigate } from "@tanstack/react-router";
import { useServices } from "../app/services.ts";
import { useProject, useSession } from "../app/use-session.ts";
import { useTexts } from "../i18n/use-texts.ts";
import { Button } from "../ui/button.tsx";
import { PageFrame } from "../ui/page-frame.tsx";
import { ChannelStep } from "./channel-step.tsx";
import { skipFirstRun } from "./first-run-state.ts";
import { TeachStep } from "./teach-step.tsx";
import { TestStep } from "./test-step.tsx";

/** Leads an administrator from an empty installation to a first message that is answered. */
export function FirstRunPage() {
  const { t } = useTexts();
  const { storage } = useServices();
  const session = useSession();
  const project = useProject();
  const navigate = useNavigate();
  function leave() {
    skipFirstRun(storage, session);
    void navigate({ to: "/$project/inbox/$view", params: { project, view: "review" } });
  }
  return (
    <PageFrame
      width="narrow"
      title={t("firstRun.title")}
      text={t("firstRun.text")}
      actions={<Button onClick={leave}>{t("firstRun.leave")}</Button>}
    >
      <ol className="flex flex-col gap-4">
        <TeachStep number={1} />
        <ChannelStep number={2} />
        <TestStep number={3} />
      </ol>
    </PageFrame>
  );
}
