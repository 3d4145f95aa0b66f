-- Up Migration

-- What signs the callbacks of a project, sealed, and the secret before it, which signs too until its time is over. Those of
-- the project `default` are in channels_config.
ALTER TABLE projects ADD COLUMN webhook_secret jsonb;
ALTER TABLE projects ADD COLUMN previous_webhook_secret jsonb;

-- Until now one secret signed for all projects: those that exist keep it, so that their receivers see no change.
UPDATE projects p SET
  webhook_secret = nullif(c.api #> '{config,webhookSecret}', 'null'),
  previous_webhook_secret = nullif(c.api #> '{config,previousWebhookSecret}', 'null')
FROM channels_config c
WHERE p.name <> 'default' AND p.deleted_at IS NULL;
