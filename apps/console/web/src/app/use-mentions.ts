import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useState } from "react";
import type { Mention } from "@svc/contracts";
import { mentionsQuery } from "../api/mentions.ts";
import { mayDo } from "../api/session.ts";
import { useServices } from "./services.ts";
import { useSession } from "./use-session.ts";

/** The notes of all projects that are for whoever is signed in, and how many of them were not looked at in this browser. */
export function useMentions(): { mentions: readonly Mention[]; unread: number; markRead: () => void } {
  const { connection, live, queryClient, storage } = useServices();
  const session = useSession();
  const { operator } = session;
  const mayRead = session.projects.some(({ name }) => mayDo(session, name, "tickets:read"));
  const { data: mentions = [] } = useQuery({ ...mentionsQuery(connection), enabled: mayRead });
  const key = `console.mentions.${operator.id}`;
  const [seen, setSeen] = useState({ key: "", id: 0 });
  const seenId = seen.key === key ? seen.id : Number(storage.getItem(key) ?? 0);
  useEffect(
    () =>
      live.on("ticket", ({ mentions: whom }) => {
        if (whom.includes(operator.id)) void queryClient.invalidateQueries({ queryKey: ["mentions"] });
      }),
    [live, operator.id, queryClient],
  );
  const newest = mentions[0]?.id ?? 0;
  const markRead = useCallback(() => {
    if (newest === 0) return;
    storage.setItem(key, String(newest));
    setSeen({ key, id: newest });
  }, [key, newest, storage]);
  return { mentions, unread: mentions.filter(({ id }) => id > seenId).length, markRead };
}
