-- What a person needs to recognize their sessions (device, network, last use), and how long a session lasts: both are decided by the
-- brokerage (docs/decisions/0141-sessions.md). Sessions from before have no device and no network.
alter table sessions
  -- The browser and the system that signed in, such as 'Chrome on Windows'. Empty: from before this migration.
  add column device text not null default '',
  -- The network that last used the session.
  add column network text,
  add column last_used_at timestamptz,
  -- Whether the person had not signed in from this device or network before, and when they said that it was them.
  add column new_device boolean not null default false,
  add column new_network boolean not null default false,
  add column confirmed_at timestamptz;

alter table tenants
  add column session_hours integer not null default 12,
  -- A session that nobody uses for so long ends. Null: it does not.
  add column session_idle_minutes integer;
