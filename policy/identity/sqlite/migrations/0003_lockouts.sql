-- +goose Up

-- After too many failures passwords are not tried for a while: of a user from an address, of a
-- user from anywhere new (address ''), or of anybody from an address (user ''). Users are folded
-- names as they were typed, known or not; addresses are IPv4 addresses or IPv6 networks (/64).
-- A row stays for a day after its end, because the next lockout then lasts longer.
CREATE TABLE lockouts (
    user    TEXT    NOT NULL,
    address TEXT    NOT NULL,
    since   TEXT    NOT NULL,
    until   TEXT    NOT NULL,
    times   INTEGER NOT NULL, -- how often in a row
    PRIMARY KEY (user, address),
    CHECK (user <> '' OR address <> '')
) STRICT, WITHOUT ROWID;

CREATE INDEX lockouts_until ON lockouts (until);
CREATE INDEX lockouts_address ON lockouts (address);

-- Where users (folded names) were let in from with a password, and tokens (token:<id>) used.
CREATE TABLE familiar (
    who     TEXT NOT NULL,
    address TEXT NOT NULL,
    last    TEXT NOT NULL,
    PRIMARY KEY (who, address)
) STRICT, WITHOUT ROWID;

CREATE INDEX familiar_last ON familiar (last);

-- +goose Down
DROP TABLE familiar;
DROP TABLE lockouts;
