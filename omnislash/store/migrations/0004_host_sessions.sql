-- Compactions that a host has announced for a session, and how many of them a delivery has answered: the delivery after
-- one opens with the line that voids what stands above it (ENVELOPE-07).
ALTER TABLE sessions ADD COLUMN compacted INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN reopened INTEGER NOT NULL DEFAULT 0;

-- Transcripts that wait for their review (FLUSH-04). A row goes when its review is over; one that a crash left behind is
-- reviewed by whoever looks next. Losing it costs the review of what the session said last.
CREATE TABLE flush_requests (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,           -- a later request for the same transcript takes a new one
    role        TEXT NOT NULL,
    heartbeat   TEXT NOT NULL DEFAULT '',                    -- '' in a chat
    transcript  TEXT NOT NULL,                               -- absolute path
    ended       INTEGER NOT NULL DEFAULT 0,                  -- 1 when the session is over
    asked_at    TEXT NOT NULL,                               -- ISO instant in UTC
    tries       INTEGER NOT NULL DEFAULT 0,                  -- reviews of it that were begun
    UNIQUE (role, heartbeat, transcript)
) STRICT;
