import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useState } from "react";
import type { Mention } from "@svc/contracts";
import { mentionsQuery } from "../api/mentions.ts";
import { useServices } from "./services.ts";
import { useProject, useRights, useSession } from "./use-session.ts";

/** The notes that are for whoever is signed in, and how many of them were not looked at in this browser. */
export function useMentions(): { mentions: readonly Mention[]; unread: number; markRead: () => void } {
  const { connection, live, queryClient, storage } = useServices();
  const { operator } = useSession();
  const project = useProject();
  const mayRead = useRights()("tickets:read");
  const { data: mentions = [] } = useQuery({ ...mentionsQuery(connection, project), enabled: mayRead });
  const key = `console.mentions.${operator.id}.${project}`;
  const [seen, setSeen] = useState({ key: "", id: 0 });
  const seenId = seen.key === key ? seen.id : Number(storage.getItem(key) ?? 0);
  useEffect(
    () =>
      live.on("ticket", ({ mentions: whom, project: where }) => {
        if (where === project && whom.includes(operator.id)) {
          void queryClient.invalidateQueries({ queryKey: ["mentions", project] });
        }
      }),
    [live, operator.id, project, queryClient],
  );
  const newest = mentions[0]?.id ?? 0;
  const markRead = useCallback(() => {
    if (newest === 0) return;
    storage.setItem(key, String(newest));
    setSeen({ key, id: newest });
  }, [key, newest, storage]);
  return { mentions, unread: mentions.filter(({ id }) => id > seenId).length, markRead };
}
