-- What brain-sync came to, the newest last: `omnislash sync status` shows it. Losing it costs nothing.
CREATE TABLE syncs (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    at          TEXT NOT NULL,                               -- ISO instant in UTC
    outcome     TEXT NOT NULL CHECK (outcome IN ('done', 'nothing', 'stopped', 'failed')),
    message     TEXT NOT NULL,
    head        TEXT,                                        -- the commit that the branch stood on afterwards
    audit       INTEGER NOT NULL DEFAULT 0                   -- the newest audit row that its commits have told of
) STRICT;
