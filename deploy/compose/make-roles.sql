-- Creates the owner of the tables, the service's role, and the database, as docs/configuration.md describes. PostgreSQL's
-- image runs it as superuser when it initializes an empty data folder.
\set ON_ERROR_STOP on
\getenv owner_password OWNER_PASSWORD
\getenv service_password SERVICE_PASSWORD
create role lanewise_owner login password :'owner_password';
create role lanewise_service login password :'service_password';
-- A call that is one message takes its timeout from the session. The service refuses to start without these two settings.
alter role lanewise_service set statement_timeout = '2s';
alter role lanewise_service set idle_in_transaction_session_timeout = '10s';
create database lanewise owner lanewise_owner;
revoke all on database lanewise from public;
grant connect on database lanewise to lanewise_service;
