-- Up Migration

-- Processes that run. One that stops takes its row away; one whose row grows old has vanished without a stop, which is told
-- once, and forgotten after a day.
CREATE TABLE processes (
  id uuid PRIMARY KEY,
  app text NOT NULL,
  -- The name of the machine or container.
  host text NOT NULL,
  pid integer NOT NULL,
  started_at timestamptz NOT NULL DEFAULT now(),
  heard_at timestamptz NOT NULL DEFAULT now(),
  -- What it used when it was last heard of, and what it may use at most; null where nothing limits it.
  memory_bytes bigint NOT NULL,
  memory_limit_bytes bigint,
  -- When somebody was told that it has vanished.
  told_at timestamptz
);
