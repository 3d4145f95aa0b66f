-- Up Migration

-- How each process that holds a channel is doing with it, said anew every second. Nothing is lost when these rows are.
CREATE UNLOGGED TABLE channel_states (
  -- The process; it has another id after each start.
  replica uuid NOT NULL,
  channel_id text NOT NULL,
  state text NOT NULL,
  -- Since when it is in that state.
  since timestamptz NOT NULL,
  -- Why, while it is failing.
  error text,
  reported_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (replica, channel_id)
) WITH (fillfactor = 50);
