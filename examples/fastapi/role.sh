#!/bin/sh
# Runs once, when the database is made: a role that is no superuser, so that row-level policies hold.
set -e
psql --username "$POSTGRES_USER" --set ON_ERROR_STOP=1 --set password="$MEMORY_PASSWORD" <<'SQL'
CREATE ROLE memory LOGIN PASSWORD :'password';
CREATE DATABASE memory OWNER memory;
SQL
